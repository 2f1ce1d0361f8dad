import { describe, expect, test } from 'bun:test'
import { createTextBodies } from '../../../src/http/answer/text-body.ts'

const long = (letter: string) => letter.repeat(100_000)
const textOf = (body: ConstructorParameters<typeof Response>[0]) => new Response(body).text()

/** The bytes that a body is of. */
async function bytesOf(body: ConstructorParameters<typeof Response>[0]): Promise<Uint8Array> {
  const { value } = await (body as ReadableStream<Uint8Array>).getReader().read()
  return value!
}

describe('bodies of texts', () => {
  test('have the same bytes each time that a long text is answered', async () => {
    const bodyOf = createTextBodies()
    const first = await bytesOf(bodyOf(long('a')))
    expect(Buffer.from(first).toString()).toBe(long('a'))
    expect(await bytesOf(bodyOf(long('a')))).toBe(first)
  })

  test('never answer a text that differs in a character', async () => {
    const bodyOf = createTextBodies()
    const texts = [
      long('a'),
      long('a'),
      `${long('a').slice(1)}b`,
      `b${long('a').slice(1)}`,
      'ä'.repeat(100_000),
      'ä'.repeat(5000),
    ]
    for (const text of texts) expect(await textOf(bodyOf(text))).toBe(text)
  })

  test('are let go when others have come', async () => {
    const bodyOf = createTextBodies()
    const first = await bytesOf(bodyOf(long('a')))
    for (const mailMessage of 'bcde') bodyOf(long(mailMessage))
    expect(await bytesOf(bodyOf(long('a')))).not.toBe(first)
  })

  test('are not kept of texts longer than a megabyte', async () => {
    const bodyOf = createTextBodies()
    const text = 'a'.repeat(2 ** 20 + 1)
    const first = await bytesOf(bodyOf(text))
    expect(await bytesOf(bodyOf(text))).not.toBe(first)
  })

  test('have no bytes of a text longer than a megabyte until they are read', async () => {
    const bodyOf = createTextBodies()
    const text = 'ä'.repeat(2 ** 20 + 1)
    const before = process.memoryUsage().arrayBuffers
    const bodies = Array.from({ length: 20 }, () => bodyOf(text))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(text.length)
    for (const body of bodies) expect(await textOf(body)).toBe(text)
  })

  test('are the texts themselves where the response is made at once, but for shared bytes', () => {
    const bodyOf = createTextBodies()
    const bytes = Buffer.from('a'.repeat(50_000))
    expect(bodyOf(bytes, true)).toBe(bytes)
    expect(bodyOf('a'.repeat(50_000), true)).toBe('a'.repeat(50_000))
    expect(bodyOf(long('a'), true)).toBeInstanceOf(ReadableStream)
    expect(bodyOf(bytes)).toBeInstanceOf(ReadableStream)
  })

  test('are the texts themselves of short ones', () => {
    const bodyOf = createTextBodies()
    expect([bodyOf('{}'), bodyOf('{}'), bodyOf('{}')]).toEqual(['{}', '{}', '{}'])
  })
})
