import { expect, test } from 'bun:test'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'

test('a feed that was not read yet is added, not ok, and the command for its first run is named', async () => {
  const dir = emptyDirectory(temporaryDir())
  const { code, out } = await command('feeds', 'add', 'ecb', '--data', dir)
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^ecb: added, \d+ codes.*\n.*: wellhead feeds runs ecb$/m),
  })
  remove(dir)
})
