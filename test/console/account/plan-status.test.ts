import { expect, test } from 'bun:test'
import { statusText } from '../../../src/console/pages/account/plan-status.ts'

const subscription = {
  plan: 'scale',
  price: 39_000,
  status: 'active',
  cancel_at_period_end: false,
  pending_plan: null,
} as const

const textOf = (
  changes: Partial<Parameters<typeof statusText>[0]>,
  invoice: 'open' | 'paid' = 'paid',
): string =>
  statusText({ ...subscription, ...changes }, () => 'Scale', '30 Dec 2026', [
    { number: '2026-000002', status: invoice },
    { number: '2026-000001', status: 'paid' },
  ])

test('a plan is called paid only when its invoice is paid', () => {
  expect(textOf({})).toBe('Scale is paid until 30 Dec 2026 and renews automatically.')
  expect(textOf({}, 'open')).toBe(
    'Scale renews on 30 Dec 2026. Invoice 2026-000002 is not paid yet.',
  )
  expect(textOf({ status: 'past_due' }, 'open')).toBe(
    'Scale renews on 30 Dec 2026. An invoice is overdue.',
  )
  expect(textOf({ price: 0 })).toBe('Scale renews on 30 Dec 2026.')
  expect(textOf({ cancel_at_period_end: true }, 'open')).toBe(
    'Scale ends on 30 Dec 2026. Invoice 2026-000002 is not paid yet.',
  )
})
