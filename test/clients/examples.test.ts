import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { binary } from '../support/instance/binary.ts'
import {
  clientPackages,
  environmentOf,
  installedIn,
  type Outcome,
  root,
  runProgram,
  sharedInstance,
} from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'

const page = ['clients', 'command-line', 'assistants']
  .map(name => readFileSync(join(root, `docs/how-to/${name}.md`), 'utf8'))
  .join('\n')
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(
  ([, language = '', text = '']) => ({
    language,
    text,
  }),
)
const blocksOf = (language: string) =>
  blocks.filter(block => block.language === language).map(block => block.text)

let copy: Wellhead
beforeAll(async () => {
  copy = await sharedInstance()
}, 600_000)

/** Runs a text of the page as a file; `more` is added to the environment. */
async function runText(
  name: string,
  text: string,
  command: string[],
  more: Record<string, string> = {},
): Promise<Outcome> {
  const directory = installedIn()
  writeFileSync(join(directory, name), text)
  return await runProgram([...command, name], directory, { ...environmentOf(copy), ...more })
}

const prices = /WTI_USD +\d+\.?\d* USD.*\n.*BRENT_CRUDE_USD +\d+\.?\d* USD/

describe('the examples of the page of clients run as they stand', () => {
  needs('python 3.10').test(
    'in Python',
    async () => {
      const [text = '', ...others] = blocksOf('python')
      expect(others).toEqual([])
      const { code, text: output } = await runText('example.py', text, ['python3'], {
        PYTHONPATH: join(clientPackages(), 'python'),
        PYTHONDONTWRITEBYTECODE: '1',
      })
      expect(code, output).toBe(0)
      expect(output).toMatch(prices)
      expect(output).toMatch(/\d{3} closes of WTI, highest/)
      expect(output).toMatch(/^invalid_code \[/m)
    },
    60_000,
  )

  test('the TypeScript example of the page of clients prints prices', async () => {
    const [text = '', ...others] = blocksOf('ts')
    expect(others).toEqual([])
    const { code, text: output } = await runText('example.ts', text, [process.execPath])
    expect(code, output).toBe(0)
    expect(output).toMatch(prices)
    expect(output).toMatch(/\d{3} closes of WTI, highest/)
    expect(output).toMatch(/^invalid_code 400 invalid_code: /m)
  }, 60_000)

  needs('go').test(
    'in Go',
    async () => {
      const [text = '', ...others] = blocksOf('go')
      expect(others).toEqual([])
      const cache = mkdtempSync(join(tmpdir(), 'wellhead-go-'))
      const command = ['go', 'run']
      const { code, text: output } = await runText('example.go', text, command, {
        GOCACHE: cache,
        GOFLAGS: '-modcacherw',
      })
      expect(code, output).toBe(0)
      expect(output).toMatch(prices)
    },
    240_000,
  )

  needs('php').test(
    'in PHP',
    async () => {
      const [text = '', ...others] = blocksOf('php')
      expect(others).toEqual([])
      const { code, text: output } = await runText('example.php', text, ['php'])
      expect(code, output).toBe(0)
      expect(output).toMatch(prices)
    },
    60_000,
  )

  needs('curl').test(
    'in a shell, with the binary on the path',
    async () => {
      const [request = '', commands = '', ...others] = blocksOf('sh')
      expect(others).toEqual([])
      const directory = installedIn()
      symlinkSync(binary(), join(directory, 'wellhead'))
      const env = {
        ...environmentOf(copy),
        PATH: `${directory}:${process.env.PATH}`,
        XDG_CONFIG_HOME: join(directory, 'config'),
      }
      const run = (text: string) => runProgram(['sh', '-e', '-c', text], directory, env)
      const csv = await run(request)
      expect(csv.code, csv.text).toBe(0)
      expect(csv.text).toMatch(/^code,name,created_at,price.*\nWTI_USD,/)
      const { code, text } = await run(commands)
      expect(code, text).toBe(0)
      expect(text).toContain('WTI_USD, USD per barrel')
      expect(text).toContain('Nothing was created')
      expect(text).toMatch(/\* default /)
      expect(readFileSync(join(directory, 'wti.csv'), 'utf8').split('\n').length).toBeGreaterThan(
        200,
      )
    },
    60_000,
  )

  test('every other block contains data and not a program', () => {
    const run = ['python', 'ts', 'go', 'php', 'sh']
    const others = blocks.map(block => block.language).filter(language => !run.includes(language))
    expect(others).toEqual(['json'])
  })

  for (const name of ['python', 'typescript'] as const) {
    const where = name === 'python' ? needs('python 3.10') : needs()
    where.test(
      `and the first program of the README for ${name}`,
      async () => {
        const readme = readFileSync(join(root, 'clients', name, 'README.md'), 'utf8')
        const language = name === 'python' ? 'python' : 'ts'
        const [, text = ''] =
          new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(readme) ?? []
        const program = text
          .replace('http://127.0.0.1:8470', copy.url)
          .replace('<API_KEY>', copy.apiKey)
        expect(program).not.toBe(text)
        const { code, text: output } =
          name === 'python'
            ? await runText('readme.py', program, ['python3'], {
                PYTHONPATH: join(clientPackages(), 'python'),
              })
            : await runText('readme.ts', program, [process.execPath])
        expect(code, output).toBe(0)
        expect(output).toMatch(prices)
      },
      60_000,
    )
  }
})
