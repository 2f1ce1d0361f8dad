import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { t } from '../../../src/http/answer/schema.ts'
import type { Context } from '../../../src/http/operations/context.ts'
import { mount } from '../../../src/http/operations/mount.ts'
import { operation } from '../../../src/http/operations/operation.ts'

const Thing = t.Object({ name: t.String() })
const documented = {
  access: { open: 'A thing is for everybody.' },
  summary: 'Get a thing',
  description: 'A thing.',
} as const

/** A thing that is read and changed by handlers that wait, or by handlers that do not. */
function thing(waits: { read: boolean; change: boolean }) {
  let name = 'first'
  const read = () => ({ name })
  const change = ({ request }: { request: Request }) => {
    name = request.headers.get('x-name')!
    return { name }
  }
  const app = mount(new Elysia(), {} as Context, [
    operation('GET /thing', {
      ...documented,
      operationId: 'getThing',
      answers: Thing,
      handle: waits.read ? async () => read() : read,
    }),
    operation('PATCH /thing', {
      ...documented,
      operationId: 'updateThing',
      answers: Thing,
      handle: waits.change ? async call => change(call) : change,
    }),
  ])
  return (method: string, headers: Record<string, string> = {}) =>
    app.fetch(new Request('http://localhost/thing', { method, headers }))
}

test.each([
  { read: false, change: false },
  { read: true, change: false },
  { read: false, change: true },
  { read: true, change: true },
])(
  'a change is refused where the resource has changed, whichever handler waits: %j',
  async waits => {
    const send = thing(waits)
    const tag = (await send('GET')).headers.get('etag')!
    expect(tag).toStartWith('"')
    expect((await send('PATCH', { 'if-match': tag, 'x-name': 'second' })).status).toBe(200)
    await send('PATCH', { 'if-match': tag, 'x-name': 'third' })
    expect(await (await send('GET')).json()).toEqual({ name: 'second' })
    expect((await send('PATCH', { 'if-match': '*', 'x-name': 'fourth' })).status).toBe(200)
  },
)

test.each([false, true])(
  'a change by an operator with If-Match reads its resource once, for the condition and for the audit trail (waits: %j)',
  async waits => {
    let reads = 0
    const action: { changes?: unknown } = {}
    const shared = { ...documented, access: { operator: 'service' }, answers: Thing } as const
    const app = mount(
      new Elysia().decorate('requestContext', { action }) as unknown as Elysia,
      { ignoredParameters: { checkFields: () => undefined } } as unknown as Context,
      [
        operation('GET /thing', {
          ...shared,
          operationId: 'getThing',
          handle() {
            reads += 1
            return { name: 'first' }
          },
        }),
        operation('PUT /thing', {
          ...shared,
          operationId: 'replaceThing',
          body: Thing,
          handle: waits ? async ({ body }) => body : ({ body }) => body,
        }),
      ],
    )
    const url = 'http://localhost/thing'
    const tag = (await app.fetch(new Request(url))).headers.get('etag')!
    reads = 0
    const changed = await app.fetch(
      new Request(url, {
        method: 'PUT',
        headers: { 'if-match': tag, 'content-type': 'application/json' },
        body: '{"name":"second"}',
      }),
    )
    expect(changed.status).toBe(200)
    expect(action.changes).toEqual({ name: 'first → second' })
    expect(reads).toBe(1)
  },
)
