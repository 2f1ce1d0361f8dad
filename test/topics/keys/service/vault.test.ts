import { expect, test } from 'bun:test'
import { createVault } from '../../../../src/topics/keys/service/vault.ts'

const sealed = createVault('one master key').seal('webhook 1', 'whsec_0011')

test('a sealed secret opens with the same key and context and is not readable in its stored form', () => {
  expect(createVault('one master key').open('webhook 1', sealed)).toBe('whsec_0011')
  expect(Buffer.from(sealed).includes('whsec')).toBe(false)
})

test.each([
  ['another master key', 'another master key', 'webhook 1'],
  ['another context', 'one master key', 'webhook 2'],
])('nothing opens under %s', (_, masterKey, context) => {
  expect(() => createVault(masterKey).open(context, sealed)).toThrow(
    `What was sealed for "${context}" does not open`,
  )
})
