import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { irreversible } from '../../src/cli/confirm.ts'
import { run } from '../../src/cli/program.ts'
import { emptyDirectory } from '../support/instance/command.ts'
import { needs } from '../support/needs.ts'

/** The arguments that each command needs to start its work. */
const wanted: Readonly<Record<string, string[]>> = {
  'accounts close': ['nobody@example.com'],
  'accounts erase': ['nobody@example.com'],
  'keys revoke': ['00000000-0000-4000-8000-000000000101'],
  'keys roll': ['00000000-0000-4000-8000-000000000101'],
  'token revoke': ['99'],
  'token rotate': [],
  'invoices void': ['2026-000001'],
  'subscriptions cancel': ['nobody@example.com', '--now'],
}

async function command(argv: readonly string[], answer?: string) {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-confirm-'))
  emptyDirectory(join(dir, 'data'))
  const [out, err]: string[][] = [[], []]
  const code = await run([...argv, '--data', join(dir, 'data')], {
    env: {},
    directory: dir,
    out: line => void out!.push(line),
    err: line => void err!.push(line),
    write: () => {},
    stdin: (async function* () {
      if (answer !== undefined) yield new TextEncoder().encode(`${answer}\n`)
    })(),
    terminal: undefined,
    canAsk: answer !== undefined,
    onStop: () => {},
    exit: () => {
      throw new Error('ended')
    },
  })
  rmSync(dir, { recursive: true, force: true })
  return { code, out: out!.join('\n'), err: err!.join('\n') }
}

describe('a command that cannot be taken back', () => {
  test('is known to this test with arguments', () => {
    expect(Object.keys(wanted).sort()).toEqual(Object.keys(irreversible).sort())
  })

  for (const [name, rest] of Object.entries(wanted)) {
    const words = [...name.split(' '), ...rest]
    test(`${name} without a terminal does nothing and names --yes`, async () => {
      const { code, out, err } = await command(words)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toStartWith(name)
      expect(err).toContain(irreversible[name]!.loss)
      expect(err).toContain('Add --yes to run it without a terminal.')
    })
    test(`${name} on a terminal asks, and does nothing without a yes`, async () => {
      for (const answer of ['', 'n', 'yess']) {
        const { code, err } = await command(words, answer)
        expect(code).toBe(1)
        expect(err).toContain('Continue? [y/N]')
        expect(err).toContain(`${name}: nothing was changed.`)
      }
    })
    test(`${name} shows --yes in its help`, async () => {
      expect((await command([...name.split(' '), '--help'])).out).toContain('--yes')
    })
  }

  test('an irreversible command proceeds with --yes, or with y on a terminal', async () => {
    for (const [argv, answer] of [
      [['token', 'rotate', '--yes'], undefined],
      [['token', 'rotate'], 'y'],
      [['token', 'rotate'], 'YES'],
    ] as const) {
      const { code, out } = await command(argv, answer)
      expect(code).toBe(0)
      expect(out).toMatch(/Admin token: [0-9a-f]{64}/)
    }
  })
})

test('what ends later or leaves a way back is not asked about', async () => {
  for (const argv of [
    ['keys', 'roll', '00000000-0000-4000-8000-000000000101', '--overlap', '60'],
    ['subscriptions', 'cancel', 'nobody@example.com'],
    ['keys', 'suspend', '00000000-0000-4000-8000-000000000101'],
  ]) {
    const { err } = await command(argv)
    expect(err).toMatch(/No (?:account|API key) has the/)
    expect(err).not.toContain('--yes')
  }
})

needs('terminal').test(
  'the program asks on a real terminal, and does nothing after a no',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'wellhead-confirm-'))
    emptyDirectory(join(dir, 'data'))
    const main = resolve(import.meta.dir, '../../src/main.ts')
    const line = [process.execPath, main, 'token', 'rotate', '--data', join(dir, 'data')].join(' ')
    const child = Bun.spawn(['script', '-qec', line, '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm' },
      stdin: 'pipe',
      stdout: 'pipe',
    })
    child.stdin.write('n\n')
    child.stdin.flush()
    const text = await new Response(child.stdout).text()
    expect(text).toContain('Continue? [y/N]')
    expect(text).toContain('token rotate: nothing was changed.')
    expect(await child.exited).toBe(1)
    rmSync(dir, { recursive: true, force: true })
  },
)
