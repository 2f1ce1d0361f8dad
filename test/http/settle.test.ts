import { describe, expect, test } from 'bun:test'
import { markedText, textIn } from '../../src/http/answer/own-text.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const instance = openTestInstance()
const token = instance.key('professional')

describe('what a handler answers as an object', () => {
  test.each([
    ['/v1/account', 200],
    ['/v1/alerts/00000000-0000-4000-8000-00000000dead', 404],
    ['/v1/prices/latest?by_code=NOTHING_USD', 400],
  ])('%s leaves as a text of JSON with status %p', async (path, status) => {
    const response = await instance.get(path, token)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json;charset=utf-8')
    const text = textIn(markedText(response))
    // Known, so that it is encoded without being read back.
    expect(text).toBeString()
    expect(await response.text()).toBe(text!)
    expect(JSON.parse(text!)).toBeObject()
  })
})
