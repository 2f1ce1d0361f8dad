import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { isFull } from '../support/full.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import {
  answerChecker,
  boundless,
  type Documented,
  documentOf,
  innardsIn,
  operationsOf,
  random,
} from '../support/interface/every-route.ts'
import { requestMaker } from '../support/interface/hostile.ts'

const torture = process.env.WELLHEAD_TORTURE === '1'
const requests = torture ? 100_000 : isFull ? 3_000 : 500
const seed = Number(process.env.WELLHEAD_SEED ?? 20_261_120)

/** An export of everything takes a second, and the address of a publisher who is not there eight. */
const slow = new Set(['/admin/v1/export', '/admin/v1/feeds/{name}/test'])

let copy: DemoInstance
let document: OpenApiDocument
let operations: Documented[]

beforeAll(async () => {
  copy = demoInstance(undefined, boundless)
  document = await documentOf(copy)
  operations = operationsOf(document).filter(({ path }) => !slow.has(path))
}, 120_000)
afterAll(() => copy.remove())

test(
  `${requests} requests with invalid parameters are answered as the OpenAPI document says`,
  async () => {
    const make = requestMaker(document, random(seed))
    const wrongWith = judge(answerChecker(document))
    const failures = new Map<string, string>()
    let accepted = 0
    for (let i = 0; i < requests; i += 1) {
      const operation = operations[i % operations.length]!
      const { address, body, headers } = make(operation)
      stay()
      const response = await copy.ask(operation.method, address, {
        body,
        key: keyFor(operation),
        headers: { ...headers, ...operator(operation) },
      })
      const text = await textOf(response)
      accepted += Number(response.ok)
      const wrong = wrongWith(reached(operation, address), response, text)
      const kind = `${operation.method} ${operation.path} ${response.status}`
      const request = `${address} ${body} ${JSON.stringify(headers)}`
      if (wrong && !failures.has(kind))
        failures.set(
          kind,
          `${request.slice(0, 600)}
  ${wrong}`,
        )
    }
    expect([...failures].map(([kind, request]) => `${kind}\n  ${request}`).join('\n')).toBe('')
    // If validation refused nearly everything, the handlers would stay untested.
    expect(accepted).toBeGreaterThan(requests / 4)
    // An operator's request among them may have retired any one code.
    expect((await copy.ask('GET', '/v1/commodities')).status).toBe(200)
  },
  torture ? 3_600_000 : 120_000,
)

test('names that every object has are values of no parameter', async () => {
  const wrongWith = judge(answerChecker(document))
  const failures: string[] = []
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    const parameters = operation.operation.parameters ?? []
    const examples = new Map(
      parameters.map(({ name, example, schema }) => [
        name,
        String(example ?? schema.example ?? '1'),
      ]),
    )
    for (const { name, in: place } of parameters.filter(parameter => parameter.in !== 'header')) {
      for (const value of ['constructor', '__proto__']) {
        const path = operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) =>
          encodeURIComponent(parameter === name ? value : examples.get(parameter)!),
        )
        const address = place === 'query' ? `${path}?${name}=${value}` : path
        const response = await copy.ask('GET', address, {
          key: keyFor(operation),
          headers: operator(operation),
        })
        const wrong = wrongWith(reached(operation, address), response, await textOf(response))
        if (wrong) failures.push(`${address}\n  ${wrong}`)
      }
    }
  }
  expect(failures.join('\n')).toBe('')
}, 60_000)

const keyFor = ({ access }: Documented) =>
  access === 'operator' || access === 'keyless' ? null : copy.apiKey
/** A new token for each request, because one of the routes makes another. */
const operator = ({ access }: Documented): Record<string, string> =>
  access === 'operator'
    ? { authorization: `Bearer ${copy.running.services.adminTokens.rotate()}` }
    : {}

/** The operation that a request has reached: a value may spell the path or the alias of another. */
const reached = (operation: Documented, address: string): Documented => {
  const asked = address.replace(/\?.*/, '').replace('/v1/demo/prices/latest', '/v1/demo/prices')
  return (
    operations.find(({ method, path }) => method === operation.method && path === asked) ??
    operation
  )
}

/**
 * The fault of a response; undefined: none. Where no route matches, there is no body and no request
 * id.
 */
const judge =
  (broken: ReturnType<typeof answerChecker>) =>
  (operation: Documented, response: Response, text: string) => {
    const { status, headers } = response
    if (status >= 500) return text.slice(0, 300)
    if (status === 404 && text === '') return undefined
    if (!headers.has('x-request-id')) return 'It has no request id.'
    return (
      broken(operation, status, headers.get('content-type') ?? '', text) ?? innardsIn(text, copy)
    )
  }

/**
 * A request that moves the account to another plan or stops it must not decide what the next ones
 * find.
 */
function stay() {
  const { keys } = copy.running.services
  const { account } = keys.find(copy.apiKey)!.account
  if (account.plan !== 'enterprise' || account.suspendedAt !== null)
    keys.putAccount({ ...account, plan: 'enterprise', suspendedAt: null })
}

/** A stream would not end by itself. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.includes('event-stream')) return response.text()
  await response.body?.cancel()
  return 'a stream'
}
