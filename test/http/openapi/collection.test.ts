import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { type DemoInstance, demoInstance } from '../../support/instance/demo-instance.ts'
import { refused } from '../../support/interface/examples.ts'
import { needs } from '../../support/needs.ts'
import { moduleFolder } from '../../support/requirements.ts'
import { until } from '../../support/until.ts'

/** Operations whose answers do not end. */
const streams = ['/cable', '/v1/changes/replay', '/v1/stream']

/** Answers to the examples of the required parameters that are refused, and the reason. */
const refusedOnce: Record<string, number> = {
  ...Object.fromEntries(Object.entries(refused).map(([name, [status]]) => [name, status])),
  'GET /v1/auth/sessions': 401,
  'GET /v1/auth/second-factor': 401,
  'GET /admin/v1/batches/{id}': 404,
  // They need one of several parameters, which only our own samples send.
  'GET /v1/analytics/correlation': 400,
  'GET /v1/futures/{slug}/spread-history': 400,
  'GET /v1/prices/excel-latest': 400,
  // It returns a message in a cell.
  'GET /v1/prices/excel-latest.xml': 200,
}
/** The same where every parameter is sent: some exclude each other, or need what an account makes. */
const refusedTogether: Record<string, number> = {
  ...refusedOnce,
  'GET /v1/analytics/correlation': 200,
  'GET /v1/futures/{slug}/spread-history': 200,
  'GET /v1/prices/excel-latest': 200,
  // `as_of` returns raw rows, and `interval` asks for bars.
  'GET /v1/prices/past_day': 400,
  'GET /v1/prices/historical': 400,
  'GET /v1/prices/{date}': 400,
  // `at` is for one day.
  'GET /v1/prices/past_week': 400,
  'GET /v1/prices/past_month': 400,
  'GET /v1/prices/past_year': 400,
  // A formula that the account makes.
  'GET /v1/delivery/{code}/evcc': 400,
  // A source of values that the demo data do not have.
  'GET /admin/v1/export': 400,
}

interface Execution {
  request: { method: string; url: { path: string[] } }
  response?: { code: number; header: { key: string; value: string }[] }
}

const node = async (...command: string[]): Promise<void> => {
  const run = Bun.spawn(['node', ...command], { cwd: directory, stdout: 'ignore', stderr: 'pipe' })
  // Newman ends with 1 where a request fails; its report has each of them.
  if ((await run.exited) > 1) throw new Error(await new Response(run.stderr).text())
}
const fileOf = (name: string, path: string) => join(moduleFolder(name)!, path)

const directory = mkdtempSync(join(tmpdir(), 'wellhead-collection-'))
let instance: DemoInstance
let server: Bun.Server<undefined>
let document: OpenApiDocument
/** `/v1/x/{id}` of the path of a request. */
let patterns: [path: string, pattern: RegExp][]

beforeAll(async () => {
  const limits = { 'limits.unauthenticated_per_minute': '100000' }
  instance = demoInstance(undefined, limits, { controls: true })
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => instance.running.app.handle(request),
  })
  document = (await (await instance.ask('GET', '/openapi.json')).json()) as OpenApiDocument
  document.servers = [{ url: `http://127.0.0.1:${server.port}` }]
  document.paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, { get }]) =>
      get && !streams.includes(path) ? [[path, { get }]] : [],
    ),
  )
  // Where two paths fit, the one with fewer parameters is meant.
  patterns = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map(path => [path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)])
}, 120_000)
afterAll(async () => {
  await server.stop(true)
  instance.remove()
  rmSync(directory, { recursive: true, force: true })
})

/** Sends every request of the collection that Postman makes of the document, to an address. */
async function sendCollection(hasEveryParameter: boolean, address: string): Promise<Execution[]> {
  await Bun.write(join(directory, 'openapi.json'), JSON.stringify(document))
  const options = `parametersResolution=Example,enableOptionalParameters=${hasEveryParameter}`
  const [made, report] = [join(directory, 'collection.json'), join(directory, 'report.json')]
  const converter = fileOf('openapi-to-postmanv2', 'bin/openapi2postmanv2.js')
  await node(converter, '-s', join(directory, 'openapi.json'), '-o', made, '-O', options)
  const variables = {
    baseUrl: address,
    apiKey: `Token ${instance.apiKey}`,
    bearerToken: instance.adminToken,
  }
  const given = Object.entries(variables).flatMap(([name, value]) => [
    '--env-var',
    `${name}=${value}`,
  ])
  const reporter = [
    '--timeout-request',
    '20000',
    '--reporters',
    'json',
    '--reporter-json-export',
    report,
  ]
  await node(fileOf('newman', 'bin/newman.js'), 'run', made, ...given, ...reporter)
  const { run } = (await Bun.file(report).json()) as { run: { executions: Execution[] } }
  return run.executions
}

const nameOf = ({ request: { method, url } }: Execution): string => {
  const path = `/${url.path.join('/')}`
  return `${method} ${patterns.find(([, pattern]) => pattern.test(path))?.[0] ?? path}`
}

const gets = () => Object.keys(document.paths).map(path => `GET ${path}`)

for (const [parameters, isEvery, expected] of [
  ['its required parameters', false, refusedOnce],
  ['every parameter', true, refusedTogether],
] as const)
  needs('test:full', 'newman', 'openapi-to-postmanv2').test(
    `a Postman collection of the API with ${parameters} is answered, but for what is listed`,
    async () => {
      const executions = await sendCollection(isEvery, document.servers[0]!.url)
      const statuses = executions.map(one => [nameOf(one), one.response?.code] as const)
      expect(statuses.map(([name]) => name).sort()).toEqual(gets().sort())
      expect(statuses.filter(([name, status]) => status !== (expected[name] ?? 200))).toEqual([])
    },
    300_000,
  )

needs('test:full', 'newman', 'openapi-to-postmanv2', '@stoplight/prism-cli').test(
  'Prism finds no request and no answer that differs from the OpenAPI document',
  async () => {
    const prism = fileOf('@stoplight/prism-cli', 'dist/index.js')
    // Prism restarts on another port when its file is written.
    const file = join(directory, 'described.json')
    await Bun.write(file, JSON.stringify(document))
    const proxy = Bun.spawn(['node', prism, 'proxy', file, document.servers[0]!.url, '-p', '0'], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    try {
      let log = ''
      const reading = proxy.stdout.pipeTo(
        new WritableStream({
          write: piece => {
            log += new TextDecoder().decode(piece)
          },
        }),
      )
      const [, address] = await until(
        'Prism listens',
        () => /Prism is listening on (http:\S+)/.exec(log),
        60_000,
        () => log,
      )
      const executions = await sendCollection(false, address!)
      const violations = executions.flatMap(one => {
        const found = one.response?.header.find(({ key }) => key.toLowerCase() === 'sl-violations')
        return found ? [`${nameOf(one)}: ${found.value}`] : []
      })
      const unanswered = executions.filter(({ response }) => !response)
      expect(executions).toHaveLength(gets().length)
      expect(unanswered.map(nameOf)).toEqual([])
      // Prism follows the redirect.
      const isRedirect = (text: string) => text.startsWith('GET /v1/commodities/codes: ')
      expect(violations.filter(text => !isRedirect(text))).toEqual([])
      proxy.kill()
      await reading
    } finally {
      proxy.kill()
    }
  },
  300_000,
)

/** What Spectral reports of a socket, of a template with its own example, and of an earlier version. */
const specified = {
  'openapi.json': [
    'oas3-valid-schema-example paths//v1/formulas/templates/get/responses/200/content/application/json/example/data/templates',
    'operation-success-response paths//cable/get/responses',
  ],
  'openapi-3.1.json': [
    'oas3-valid-schema-example paths//v1/formulas/templates/get/responses/200/content/application/json/example/data/templates',
    'operation-success-response paths//cable/get/responses',
  ],
  // The operator has set no address of the service.
  'asyncapi.json': [
    'asyncapi-info-contact-properties info/contact',
    'asyncapi-latest-version asyncapi',
  ],
}

needs('test:full', '@stoplight/spectral-cli').test(
  'the rules of Spectral find nothing in the three documents but what is specified',
  async () => {
    const rules = join(directory, 'rules.yaml')
    await Bun.write(rules, 'extends: ["spectral:oas", "spectral:asyncapi"]')
    const program = fileOf('@stoplight/spectral-cli', 'dist/index.js')
    for (const [name, expected] of Object.entries(specified)) {
      const file = join(directory, name)
      await Bun.write(file, await (await instance.ask('GET', `/${name}`)).text())
      const options = ['--ruleset', rules, '--format', 'json', '--quiet']
      const lint = Bun.spawn(['node', program, 'lint', file, ...options], { stderr: 'ignore' })
      const problems = (await new Response(lint.stdout).json()) as {
        code: string
        path: string[]
      }[]
      const found = problems.map(({ code, path }) => `${code} ${path.slice(0, 10).join('/')}`)
      expect(found.sort(), name).toEqual(expected)
    }
  },
  300_000,
)
