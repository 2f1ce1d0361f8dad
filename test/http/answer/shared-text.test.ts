import { describe, expect, test } from 'bun:test'
import { createSharedTexts } from '../../../src/http/answer/shared-text.ts'

const long = (letter: string) => letter.repeat(100_000)
const textOf = (body: string | Blob) => new Response(body).text()

describe('bodies of texts', () => {
  test('are one Blob of a long text from the second answer on', async () => {
    const bodyOf = createSharedTexts()
    expect(bodyOf(long('a'))).toBe(long('a'))
    const second = bodyOf(long('a'))
    expect(second).toBeInstanceOf(Blob)
    expect(bodyOf(long('a'))).toBe(second)
    expect(await textOf(second)).toBe(long('a'))
  })

  test('never answer a text that differs in a character', async () => {
    const bodyOf = createSharedTexts()
    for (const text of [long('a'), long('a'), `${long('a').slice(1)}b`, `b${long('a').slice(1)}`])
      expect(await textOf(bodyOf(text))).toBe(text)
  })

  test('are let go when others have come', () => {
    const bodyOf = createSharedTexts()
    const kinds = [...'aabcdea'].map(letter => typeof bodyOf(long(letter)))
    expect(kinds).toEqual(['string', 'object', 'string', 'string', 'string', 'string', 'string'])
    // The second was forgotten with it.
    expect(bodyOf(long('b'))).toBe(long('b'))
  })

  test('are the texts themselves of short ones', () => {
    const bodyOf = createSharedTexts()
    expect([bodyOf('{}'), bodyOf('{}'), bodyOf('{}')]).toEqual(['{}', '{}', '{}'])
  })
})
