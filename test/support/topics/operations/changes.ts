import { expect } from 'bun:test'
import { openTestInstance, type TestInstance } from '../../instance/instance.ts'
import type { WireChange } from '../follower.ts'

export const codes = ['WTI_USD', 'BRENT_CRUDE_USD', 'EUR_USD'] as const

export const ownCode = 'HOUSE_PRICE'

export interface Page {
  changes: WireChange[]
  count: number
  cursor: string
  has_more: boolean
}

export const opened = () => {
  const instance = openTestInstance()
  const { seriesChanges } = instance.services
  seriesChanges.add([
    {
      code: ownCode,
      terms: { name: 'House price', category: 'own', unit: 'barrel', currency: 'USD', decimals: 2 },
    },
  ])
  return { instance, token: instance.key() }
}

export async function pageOf(
  instance: TestInstance,
  token: string,
  since: string,
  more = '',
): Promise<Page> {
  const answer = await instance.get(`/v1/changes?since=${since}${more}`, token)
  const { data, ...rest } = (await answer.json()) as { data: Page }
  if (answer.status !== 200) throw new Error(JSON.stringify(rest))
  expect(answer.headers.get('x-next-cursor')).toBe(data.cursor)
  expect(answer.headers.get('x-has-more')).toBe(String(data.has_more))
  return data
}

/** Every record after a cursor, in pages; the cursor to continue from. */
export async function readAll(
  instance: TestInstance,
  token: string,
  since: string,
  more = '&limit=3',
): Promise<{ changes: WireChange[]; cursor: string }> {
  const changes: WireChange[] = []
  for (let cursor = since; ; ) {
    const page = await pageOf(instance, token, cursor, more)
    changes.push(...page.changes)
    cursor = page.cursor
    if (!page.has_more) return { changes, cursor }
  }
}
