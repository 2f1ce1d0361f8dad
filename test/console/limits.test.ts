import { expect, test } from 'bun:test'
import { limitsBy } from '../../src/console/pages/account/limits.ts'

const burst = (used: number, limit: number | null) => ({ name: 'burst', used, limit })

test('a limit names the key that is nearest to it, also where another has used more', () => {
  const busy = { name: 'busy', windows: [burst(500, 100_000)] }
  const near = { name: 'near', windows: [burst(9, 10)] }
  const free = { name: 'free', windows: [burst(900, null)] }
  const [row] = limitsBy([burst(0, 1000)], [busy, near, free])
  expect(row).toEqual({ name: 'burst', used: 9, limit: 10, key: near })
})

test('of keys that are equally near, a limit names the one that has used more', () => {
  const keys = [burst(1, null), burst(7, null)].map(window => ({ windows: [window] }))
  expect(limitsBy([burst(0, null)], keys)[0]).toMatchObject({ used: 7, key: keys[1]! })
})

test.each([[[]], [[{ windows: [burst(0, 60)] }]]])(
  'a limit that no key has used yet is shown unused, without a key: %j',
  keys => {
    expect(limitsBy([burst(0, 60)], keys)).toEqual([{ ...burst(0, 60), key: undefined }])
  },
)
