import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { minuteMs, parseInstant } from '../../../src/lib/instant.ts'
import { openTestInstance, type TestInstance } from '../../support/instance/instance.ts'
import { type Misbehaviour, standIn } from '../../support/publishers/stand-in.ts'
import { haveRealData, needsRealData } from '../../support/real-data.ts'

const since = '2026-01-01'
const now = parseInstant('2026-08-20T12:00:00Z')!
const publishers = await standIn()
afterAll(() => publishers.stop())
afterEach(() => {
  publishers.misbehaviour = undefined
})

function copyWith(name: string): TestInstance {
  const flags: Record<string, string> = {
    'egress.allow': '127.0.0.0/8',
    [`feeds.${name}.base_url`]: publishers.url,
    [`feeds.${name}.since`]: since,
  }
  if (name === 'eex_auctions') flags['feeds.eex_auctions.license'] = 'accept'
  return openTestInstance(flags, now)
}

/** All that is stored of values, to compare one state with another. */
const stored = ({ services }: TestInstance): string =>
  ['observations', 'observation_revisions', 'inventory_records', 'opec_productions']
    .map(table => JSON.stringify(services.db.query(`SELECT * FROM ${table}`).all()))
    .join('\n')

/** What is wrong whatever the form is. */
const always: Misbehaviour[] = [
  'maintenance_page',
  'empty_body',
  'quarter_body',
  'no_rows',
  'ends_earlier',
  'all_zero',
  'in_the_future',
  'elsewhere',
]
/** A form with a unit, and with names that can change; the others have none. */
const ofForm: Record<string, Misbehaviour[]> = {
  eia_wngsr: ['another_unit'],
  norges_bank: ['another_header', 'half_of_it'],
  jodi: ['half_of_it'],
  alberta: ['another_unit', 'half_of_it'],
  eex_auctions: ['half_of_it'],
}

describe.skipIf(!haveRealData)(`a publisher that misbehaves${needsRealData}`, () => {
  for (const [name, more] of Object.entries(ofForm)) {
    test(`${name} is not believed, and nothing that is stored changes`, async () => {
      const copy = copyWith(name)
      const first = await copy.services.feeds.run(name)
      expect(first?.inserted).toBeGreaterThan(0)
      const before = stored(copy)
      for (const kind of [...always, ...more]) {
        publishers.misbehaviour = kind
        copy.clock.advance(minuteMs)
        const lineCount = copy.log.length
        const run = await copy.services.feeds.run(name, { since })
        expect([kind, run?.result]).toEqual([kind, expect.stringMatching(/^(held|failed)$/)])
        expect([kind, run?.inserted, run?.revised]).toEqual([kind, 0, 0])
        expect(stored(copy)).toBe(before)
        expect(copy.log.slice(lineCount).join('\n')).toMatch(/feed_(held|failed)/)
        expect(copy.services.feeds.view(name)?.state).toBe('failing')
      }
    })
  }
})
