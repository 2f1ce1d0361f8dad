import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, temporaryDir } from '../support/instance/binary.ts'
import { commandIn, emptyDirectory } from '../support/instance/command.ts'
import { gradeOf, missingIn } from '../support/language/grade.ts'
import { moreApiMistakes, readApiMistakes } from '../support/language/mistakes-api.ts'
import {
  type CliMistake,
  laterCliMistakes,
  moreCliMistakes,
  readCliMistakes,
} from '../support/language/mistakes-cli.ts'

const root = temporaryDir()
afterAll(() => remove(root))
const data = emptyDirectory(join(root, 'data'))
const file = (name: string, text: string) => writeFileSync(join(root, name), text)
file('bad.csv', 'code,observed_at,price\nWTI_UDS,2026-11-20T10:00:00Z,71\nWTI_USD,2026-13-20,71\n')
file('nocode.csv', 'Date,Close\n2026-11-20,71\n')
file('bad.toml', '[server]\nprot = 1\nport = "abc"\n')
file(
  'mail.toml',
  '[mail]\nprovider = "resend"\nresend_key = "x"\nresend_url = "http://127.0.0.1:1"\n',
)
file('feed.toml', '[feeds.eai]\n')
file('stripe.toml', '[billing]\nprovider = "stripe"\n')

const placed = (text: string) => text.replace(/^(sqlite:)?DIR/, (_, scheme = '') => scheme + root)

async function messageOf({ words, isElsewhere }: CliMistake) {
  const where = isElsewhere ? [] : ['--data', data]
  const env = { HOME: root, XDG_CONFIG_HOME: join(root, 'config') }
  const { code, out, err } = await commandIn(env, ...words.map(placed), ...where)
  return { code, message: `${err}${out}`.replaceAll(root, 'DIR') }
}

const mistakes = [...readCliMistakes, ...moreCliMistakes, ...laterCliMistakes]

describe('a mistake on the command line is named with what is right, what came and the nearest', () => {
  test.each(mistakes.map(one => [one.mistake, one] as const))('%s', async (_, one) => {
    const { mistake, words, code = 1, isElsewhere, ...demand } = one
    const result = await messageOf(one)
    expect({
      ...result,
      missing: missingIn(result.message, demand),
      grade: gradeOf(result.message, demand),
    }).toEqual({ ...result, code, missing: [], grade: 'A' })
  })
})

test('the 65 mistakes of the review and 65 more are graded', () => {
  expect(readApiMistakes.length + readCliMistakes.length).toBe(65)
  expect(moreApiMistakes.length + moreCliMistakes.length).toBe(65)
})
