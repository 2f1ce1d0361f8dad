import { expect, test } from 'bun:test'
import { createKeptExports } from '../../../../src/topics/prices/service/kept-exports.ts'

const version = [{}]

/** Asks for an export of so many bytes, and answers whether it was made anew. */
const asking =
  (kept: ReturnType<typeof createKeptExports>) => async (etag: string, size: number) => {
    let isMade = false
    const bytes = await kept.of(etag, version, async () => {
      isMade = true
      return [new Uint8Array(size).fill(7)]
    })
    expect(bytes.byteLength).toBe(size)
    return isMade
  }

test('what was least lately asked for goes when there is no room', async () => {
  const isMade = asking(createKeptExports(100))
  expect(await isMade('a', 40)).toBe(true)
  expect(await isMade('b', 40)).toBe(true)
  expect(await isMade('a', 40)).toBe(false)
  expect(await isMade('c', 40)).toBe(true)
  expect(await isMade('a', 40)).toBe(false)
  expect(await isMade('b', 40)).toBe(true)
})

test('an export that is larger than the room is answered and not kept', async () => {
  const isMade = asking(createKeptExports(100))
  expect(await isMade('a', 101)).toBe(true)
  expect(await isMade('a', 101)).toBe(true)
  expect(await isMade('b', 100)).toBe(true)
  expect(await isMade('b', 100)).toBe(false)
})

test('it is made anew when one of its series is another', async () => {
  const kept = createKeptExports(100)
  const [first, second, third] = [{}, {}, {}]
  const of = async (versions: object[], byte: number) => [
    ...(await kept.of('a', versions, async () => [new Uint8Array([byte])])),
  ]
  expect(await of([first, second], 1)).toEqual([1])
  expect(await of([first, second], 2)).toEqual([1])
  expect(await of([first, third], 3)).toEqual([3])
  expect(await of([first, third], 4)).toEqual([3])
})
