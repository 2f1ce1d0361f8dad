import { describe, expect, test } from 'bun:test'
import { programOf } from '../../src/cli/all-commands.ts'
import { completion, shells } from '../../src/cli/manual/completion.ts'
import { examples } from '../../src/cli/manual/examples.ts'
import { manualPage } from '../../src/cli/manual/man.ts'
import { commandTable } from '../../src/cli/manual/table.ts'
import { run } from '../../src/cli/program.ts'
import { needs } from '../support/needs.ts'

function world() {
  const printed: string[] = []
  const env = {
    env: {},
    directory: '/',
    out: (line: string) => void printed.push(line),
    err: (line: string) => void printed.push(line),
    write: (text: string) => void printed.push(text),
    stdin: new ReadableStream<Uint8Array>(),
    terminal: undefined,
    onStop() {},
    exit: (code: number): never => {
      throw new Error(`exit ${code}`)
    },
  }
  return { env, text: () => printed.join('\n') }
}

const rows = commandTable(programOf(world().env, { set() {} }))

/** Words as a shell would split them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(match => match[1] ?? match[2]!)

/** Shells of this machine check what is written for them. */
function checked(shell: string, args: readonly string[], text: string) {
  const child = Bun.spawnSync([shell, ...args], { stdin: Buffer.from(text), stderr: 'pipe' })
  return { code: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString() }
}

describe('the help of every command', () => {
  test.each(rows.map(row => [row.words.join(' '), row] as const))(
    '%s: has examples',
    async (name, row) => {
      expect(row.examples.length).toBeGreaterThan(0)
      const { env, text } = world()
      expect(await run([...row.words, '--help'], env)).toBe(0)
      for (const example of row.examples) expect(text()).toContain(`  ${example}`)
      for (const example of row.examples) {
        expect(example.startsWith(`wellhead ${name}`)).toBe(true)
        const [line] = example.split(/ [<>] /)
        const words = wordsOf(line!).slice(1 + row.words.length)
        for (const word of words.filter(each => each.startsWith('-') && each !== '-'))
          expect(row.options.flatMap(option => option.flags.split(/[ ,]+/))).toContain(word)
        const needed = row.arguments.filter(argument => argument.startsWith('<')).length
        const takesValue = new Set(
          row.options
            .filter(option => option.takesValue)
            .flatMap(option => option.flags.split(/[ ,]+/)),
        )
        const options = words.filter(
          (word, i) => !word.startsWith('-') && !takesValue.has(words[i - 1] ?? ''),
        )
        expect(options.length, example).toBeGreaterThanOrEqual(needed)
      }
    },
  )
  test('no example is of a command that there is not', () => {
    expect(
      Object.keys(examples).filter(name => !rows.some(row => row.words.join(' ') === name)),
    ).toEqual([])
  })
  test('whatever lists takes --json', () => {
    const lists = rows.filter(row => row.words.at(-1) === 'list')
    expect(lists.length).toBeGreaterThan(8)
    expect(
      lists
        .filter(row => !row.options.some(option => option.long === '--json'))
        .map(row => row.words.join(' ')),
    ).toEqual([])
  })
})

describe('the manual page', () => {
  const page = manualPage({ name: 'wellhead', description: 'Prices', version: '1.2.3' }, rows)
  test('names every command and option', () => {
    const plain = page.replaceAll('\\-', '-').replaceAll('\\&', '').replaceAll('\\e', '\\')
    for (const row of rows) {
      expect(plain).toContain(`.SS wellhead ${row.words.join(' ')}`)
      for (const option of row.options) expect(plain).toContain(option.flags)
    }
  })
  needs('man').test('is read by man without a warning', () => {
    const { code, err } = checked('man', ['--warnings', '-l', '-'], page)
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })
})

describe('completions', () => {
  for (const shell of shells)
    needs(shell).test(`${shell}: is read by the shell`, () => {
      const text = completion(shell, 'wellhead', rows)
      expect(text).toContain('release-outbox')
      expect(checked(shell, shell === 'fish' ? ['--no-execute'] : ['-n'], text)).toMatchObject({
        code: 0,
        err: '',
      })
    })
  const complete = (...words: string[]) =>
    checked(
      'bash',
      [],
      `${completion('bash', 'wellhead', rows)}
COMP_WORDS=(wellhead ${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_wellhead; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
      .out.trim()
      .split('\n')
  needs('bash').test('bash completes commands, the commands below them, and options', () => {
    expect(complete('back')).toEqual(['backup'])
    expect(complete('feeds', 'r')).toEqual(['run', 'runs', 'resume'])
    expect(complete('feeds', 'run', 'ecb', '--dry')).toEqual(['--dry-run'])
    expect(complete('--data', '/tmp', 'backup', 'l')).toEqual(['list'])
  })
})
