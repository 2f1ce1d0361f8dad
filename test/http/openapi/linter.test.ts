import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { moduleFolder } from '../../support/requirements.ts'

interface Problem {
  ruleId: string
  location: { pointer: string }[]
}

/** Exceptions in the API's specification: redirects, a socket, and three paths alike. */
const specified = [
  'no-ambiguous-paths #/paths/~1v1~1dark_data~1frac-focus~1{id}~1chemicals',
  'no-ambiguous-paths #/paths/~1v1~1ei~1frac-focus~1{id}~1chemicals',
  'no-ambiguous-paths #/paths/~1v1~1storage~1{code}~1history',
  'operation-2xx-response #/paths/~1cable/get/responses',
  'operation-2xx-response #/paths/~1v1~1commodities~1codes/get/responses',
]

needs('@redocly/cli').test(
  'the strict rules of Redocly find nothing in either OpenAPI document but what is specified',
  async () => {
    const instance = openTestInstance()
    const directory = mkdtempSync(join(tmpdir(), 'wellhead-linter-'))
    try {
      for (const name of ['openapi.json', 'openapi-3.1.json']) {
        const file = join(directory, name)
        writeFileSync(file, await (await instance.get(`/${name}`)).text())
        const program = join(moduleFolder('@redocly/cli')!, 'bin/cli.js')
        const lint = Bun.spawn(
          ['node', program, 'lint', file, '--extends=recommended-strict', '--format=json'],
          { cwd: directory, stderr: 'ignore' },
        )
        const { problems } = (await new Response(lint.stdout).json()) as { problems: Problem[] }
        const found = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]!.pointer}`)
        expect(found.sort(), name).toEqual(specified)
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
  300_000,
)
