import type { OpenApiDocument, Operation } from '../../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import { minuteMs } from '../../../src/lib/time/instant.ts'
import { type DemoInstance, demoInstance } from '../instance/demo-instance.ts'

export interface Step {
  name: string
  method: string
  path: string
  operation: Operation
}

/** Replaces parts of an example by records of one account. */
export interface Own {
  path?: string
  key?: string | null
  headers?: Record<string, string>
  body?: unknown
}

export const openDemoInstance = () => demoInstance(undefined, {}, { controls: true })
export const stepsOf = (document: OpenApiDocument): Step[] =>
  Object.entries(withParametersInPlace(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

/** Sends an operation with its example values: the required parameters, and its body. */
export async function send(
  instance: DemoInstance,
  { method, path, operation }: Step,
  own: Own = {},
) {
  const isOperator = path.startsWith('/admin/')
  const headers: Record<string, string> = isOperator
    ? { authorization: `Bearer ${instance.adminToken}` }
    : {}
  const query = new URLSearchParams()
  let filled = path
  for (const {
    name,
    in: place,
    required,
    example,
    'x-sample': isSampled,
  } of operation.parameters ?? []) {
    const text = String(example)
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(text))
    if (place === 'query' && (required || isSampled)) query.set(name, text)
    if (place === 'header' && example !== undefined) headers[name.toLowerCase()] = text
  }
  const [media, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  if (media && media !== 'application/json') headers['content-type'] = media
  const asked = query.size > 0 ? `${filled}?${query}` : filled
  const answer = await instance.ask(method, own.path ?? asked, {
    key: isOperator ? null : instance.apiKey,
    body: content?.example,
    ...own,
    headers: { ...headers, ...own.headers },
  })
  // Streams would never end.
  const answered = answer.headers.get('content-type') ?? ''
  const ends = answer.status >= 400 || /^application\/(.+\+)?json\b/.test(answered)
  const text = ends ? await answer.text() : ''
  if (!ends) await answer.body?.cancel()
  return {
    status: answer.status,
    text,
    ignored: answer.headers.get('x-service-ignored-parameters'),
  }
}

/** Operations that cannot succeed on a test instance, with their response and the reason. */
export const refused: Readonly<Record<string, readonly [status: number, why: string]>> = {
  'GET /v1/files': [404, 'files are made at night, where the operator keeps them'],
  'GET /v1/files/datasets/{name}': [404, 'the same'],
  'GET /v1/files/datasets/{name}/link': [404, 'the same'],
  'GET /v1/files/prices/{name}': [404, 'the same'],
  'GET /v1/files/prices/{name}/link': [404, 'the same'],
  'GET /v1/files/{dataset}/{name}': [404, 'the same'],
  'GET /v1/files/{dataset}/{name}/link': [404, 'the same'],
  'GET /v1/files/vintages/{name}': [404, 'the same'],
  'GET /v1/files/vintages/{name}/link': [404, 'the same'],
  'GET /files/{expires}/{signature}/{name}': [404, 'the same'],
  'GET /v1/formulas/{code}': [404, 'the account of the copy has no formula'],
  'PATCH /v1/formulas/{code}': [404, 'the same'],
  'DELETE /v1/formulas/{code}': [404, 'the same'],
  'GET /v1/indicators/congressional-trades': [404, 'a data set that the service does not have'],
  'GET /cable': [426, 'speaks WebSocket'],
  'POST /billing/webhooks/stripe': [404, 'comes from a payment processor'],
  'POST /v1/auth/signup/confirm': [401, 'takes the link of an e-mail'],
  'POST /v1/data-sources/{id}/ingest': [401, 'takes the secret of a source'],
  'POST /admin/v1/sources/{id}/sync': [422, 'the source of the copy is paused'],
  'POST /admin/v1/invoices/{id}/pay': [422, 'the invoice of the copy is paid'],
  'POST /admin/v1/invoices/{id}/void': [422, 'the same'],
  'POST /admin/v1/invoices/{id}/write_off': [422, 'the same'],
  'POST /admin/v1/backups': [422, 'the copy has no place for backups'],
  'POST /v1/phone/verify': [422, 'takes the code of a text message'],
  'POST /v1/sms/optin': [422, 'takes a number that was verified'],
  'POST /v1/sms/test': [422, 'the same'],
  'POST /v1/auth/second-factor/confirm': [401, 'takes the code of a device'],
  'POST /v1/auth/second-factor/disable': [422, 'two-factor authentication is off'],
  'DELETE /admin/v1/accounts/{id}/second-factor': [404, 'the same'],
  'DELETE /admin/v1/accounts/{id}': [422, 'an account with a subscription ends it first'],
  'POST /admin/v1/accounts/{id}/erase': [422, 'only a closed account is erased'],
}

/** Operations after which the account, a key or a thing of the examples is another: each by itself. */
export const isApart = ({ name, method }: Step): boolean =>
  method === 'DELETE' || name.startsWith('PATCH /admin/') || endings.test(name)
const endings =
  /POST .*(roll|rotat|cancel|erase|undo|end$|void|write_off|pay|release|reject|subscriptions|invitations)/

type Prepare = (instance: DemoInstance) => Own | Promise<Own>

/** Signs in as the account of the copy. */
async function session(instance: DemoInstance): Promise<Own> {
  const token = await signIn(instance)
  return { key: null, headers: { authorization: `Bearer ${token}` } }
}
async function signIn({ running: { services }, apiKey }: DemoInstance): Promise<string> {
  const { account } = services.keys.find(apiKey)!
  const begin = () => services.signIn.withPassword(account.account.email, password, address)
  const before = await begin()
  if ('token' in before) return before.token
  await services.signIn.setPassword(account, password)
  const signedIn = await begin()
  return (signedIn as { token: string }).token
}
const address = '203.0.113.7'
const password = 'correct horse battery staple'

const asOperator = async (instance: DemoInstance, method: string, path: string, body?: unknown) => {
  const answer = await instance.ask(method, path, {
    key: null,
    body,
    headers: { authorization: `Bearer ${instance.adminToken}`, 'idempotency-key': path },
  })
  return (await answer.json()) as { data: Record<string, unknown> }
}

/** A value that a guard holds back: number 1 of the review. */
async function heldValue(instance: DemoInstance): Promise<Own> {
  await asOperator(instance, 'POST', '/admin/v1/observations', {
    observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T14:59:00Z', price: 700 }],
  })
  return {}
}
/** The value that is corrected or deleted. */
async function recordedValue(instance: DemoInstance): Promise<Own> {
  await asOperator(instance, 'POST', '/admin/v1/observations', {
    observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T15:00:00Z', price: 70 }],
  })
  return {}
}
/** A batch that is open; `undo` takes one that has ended. */
async function batch(instance: DemoInstance, isOver = false): Promise<string> {
  const { data } = await asOperator(
    instance,
    'POST',
    isOver ? '/admin/v1/observations' : '/admin/v1/batches',
    isOver
      ? { observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T14:59:00Z', price: 70 }] }
      : { file_name: 'prices.csv', sha256: 'a'.repeat(64) },
  )
  return `/admin/v1/batches/${isOver ? data.batch : (data.batch as { id: number }).id}`
}
/** Power by delivery period: the demo data has none. */
function power({ running }: DemoInstance): Own {
  const { catalogue, ingest, seriesChanges } = running.services
  const code = 'POWER_DA_DE_LU_EUR'
  if (catalogue.named(code)) return {}
  const resolution = 'PT1H' as const
  const terms = {
    name: 'German power, day ahead',
    category: 'power',
    unit: 'mwh',
    currency: 'EUR',
    time: 'delivery' as const,
    resolutions: [{ from: '2018-10-01', resolution }],
    zone: 'Europe/Berlin',
  }
  const [series] = seriesChanges.add([{ code, terms }])
  const midnight = Date.parse('2026-11-19T23:00:00Z')
  ingest.write(
    Array.from({ length: 24 }, (_, hour) => ({
      seriesId: series!.id,
      observedAt: midnight + hour * 3_600_000,
      value: 40 + hour,
    })),
  )
  return {}
}
/** A key of the account, other than the calling one. */
async function anotherKey(instance: DemoInstance, end = ''): Promise<Own> {
  const answer = await instance.ask('POST', '/v1/api-keys', { body: { name: 'another' } })
  const [id] = /[0-9a-f-]{36}/.exec(await answer.text())!
  return { path: `/admin/v1/keys/${id}${end}` }
}
/** The object that another operation's example creates. */
async function made(instance: DemoInstance, name: string): Promise<Own> {
  const document = (await (await instance.ask('GET', '/openapi.json')).json()) as OpenApiDocument
  await send(instance, stepsOf(document).find(step => step.name === name)!)
  return {}
}

/**
 * Values that an operation needs and no document can state: the identity of a user, and their
 * objects.
 */
export const prepared: Readonly<Record<string, Prepare>> = {
  'POST /v1/auth/session': async instance => {
    await signIn(instance)
    return { key: null, body: { email: 'eval@example.com', password } }
  },
  'POST /v1/auth/session/refresh': session,
  'DELETE /v1/auth/session': session,
  'GET /v1/auth/sessions': session,
  'DELETE /v1/auth/sessions': session,
  'DELETE /v1/auth/sessions/{id}': async instance => {
    await session(instance)
    const own = await session(instance)
    const answer = await instance.ask('GET', '/v1/auth/sessions', own)
    const { data } = (await answer.json()) as { data: { sessions: { id: string }[] } }
    if (!data) throw new Error(`no list of sessions: ${answer.status}`)
    return { ...own, path: `/v1/auth/sessions/${data.sessions.at(-1)!.id}` }
  },
  'GET /v1/auth/second-factor': session,
  'POST /v1/auth/second-factor': async instance => ({
    ...(await session(instance)),
    body: { password },
  }),
  'POST /v1/auth/second-factor/confirm': session,
  'POST /v1/auth/second-factor/disable': session,
  'GET /admin/v1/batches/{id}': async instance => ({ path: await batch(instance) }),
  'POST /admin/v1/batches/{id}/end': async instance => ({ path: `${await batch(instance)}/end` }),
  'POST /admin/v1/batches/{id}/undo': async instance => ({
    path: `${await batch(instance, true)}/undo`,
  }),
  'POST /admin/v1/review/release': heldValue,
  'POST /admin/v1/review/reject': heldValue,
  'PATCH /admin/v1/keys/{id}': instance => anotherKey(instance),
  'DELETE /admin/v1/keys/{id}': instance => anotherKey(instance),
  'POST /admin/v1/keys/{id}/roll': instance => anotherKey(instance, '/roll'),
  'DELETE /admin/v1/tokens/{id}': async instance => {
    const { data } = await asOperator(instance, 'POST', '/admin/v1/tokens', {
      name: 'cron',
      role: 'read',
    })
    return { path: `/admin/v1/tokens/${(data.token as { id: string }).id ?? data.id}` }
  },
  'DELETE /admin/v1/looks/{id}': async instance => {
    const account = instance.running.services.keys.find(instance.apiKey)!.account.account.id
    const { data } = await asOperator(instance, 'POST', `/admin/v1/accounts/${account}/look`, {})
    return { path: `/admin/v1/looks/${data.id}` }
  },
  'DELETE /admin/v1/quarantine/{id}': instance => made(instance, 'POST /admin/v1/quarantine'),
  'DELETE /admin/v1/suppressions/{address}': instance =>
    made(instance, 'POST /admin/v1/suppressions'),
  'GET /v1/delivery/{code}': power,
  'GET /v1/delivery/{code}/days': power,
  'GET /v1/delivery/{code}/cheapest': power,
  'GET /v1/delivery/{code}/evcc': power,
  'PATCH /admin/v1/values': recordedValue,
  'DELETE /admin/v1/values': recordedValue,
  'POST /mcp': () => ({
    headers: { accept: 'application/json, text/event-stream' },
  }),
}

/** Makes what an operation needs. */
export async function prepare(instance: DemoInstance, step: Step): Promise<Own> {
  // A minute has few tries of signing in.
  if (step.path.includes('/auth/')) instance.clock.advance(minuteMs)
  return (await prepared[step.name]?.(instance)) ?? {}
}

/** Whether an answer is the one that the examples get. */
export function isExpected({ name }: Step, status: number): boolean {
  const [expected] = refused[name] ?? []
  return expected === undefined ? status < 400 : status === expected
}
