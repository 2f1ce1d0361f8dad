import { describe, expect, test } from 'bun:test'
import { programOf } from '../../src/cli/all-commands.ts'
import type { ProgramEnvironment } from '../../src/cli/environment.ts'

function program() {
  const lines: string[] = []
  const env = {
    out: (text: string) => lines.push(text),
    err: (text: string) => lines.push(text),
    env: {},
    cwd: '/',
  } as unknown as ProgramEnvironment
  return { lines, command: programOf(env, new Map() as never) }
}

describe('the help of the program', () => {
  test('lists every command in a group', () => {
    const { command } = program()
    const help = command.helpInformation()
    for (const heading of ['Server', 'Data', 'Account', 'Backup and replication', 'Client'])
      expect(help).toContain(`${heading} commands:`)
    const ungrouped = command.commands
      .filter(one => one.helpGroup() === 'Other commands:')
      .map(one => one.name())
    expect(ungrouped.sort()).toEqual(['completion', 'manual', 'version'])
  })

  test('suggests the nearest command and points to the help instead of printing it', async () => {
    const { lines, command } = program()
    await expect(command.parseAsync(['node', 'wellhead', 'impor'])).rejects.toThrow(
      'unknown command',
    )
    const text = lines.join('\n')
    expect(text).toContain('Did you mean import?')
    expect(text).toContain('wellhead --help')
    expect(text).not.toContain('Exit codes:')
  })
})
