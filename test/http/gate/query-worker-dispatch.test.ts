import { expect, test } from 'bun:test'
import { t } from 'elysia'
import { createQueryWorkerDispatch } from '../../../src/http/gate/query-worker-dispatch.ts'
import type { RequestContext } from '../../../src/http/gate/request-context.ts'
import { createKnownNames } from '../../../src/http/input/known-names.ts'
import { pageQuery } from '../../../src/http/input/page.ts'
import {
  flagParameter,
  instantParameter,
  integerParameter,
  momentParameter,
  wordParameter,
} from '../../../src/http/input/typed.ts'
import { createClientProfiles } from '../../../src/http/profiles/profiles.ts'
import {
  type QueryWorkerRequest,
  refusalStatusHeader,
} from '../../../src/http/query-workers/messages.ts'
import { createRandomIds } from '../../../src/lib/ids.ts'

const url = 'http://localhost/v1/analytics/statistics?code=WTI_USD'

const names = createKnownNames()
names.learn([
  {
    method: 'GET',
    path: '/v1/analytics/statistics',
    hooks: {
      query: t.Object({
        ...pageQuery(1000),
        start_date: momentParameter(''),
        end_date: momentParameter(''),
        as_of: instantParameter(''),
        days: integerParameter('', undefined, { minimum: 1, maximum: 365 }),
        interval: wordParameter(['1h', '1d'], ''),
        bars: flagParameter(''),
      }),
    },
  },
])

/** The request that query workers get where the original has these headers. */
async function questionOf(headers: Record<string, string>, query = '', method = 'GET') {
  const asked: Omit<QueryWorkerRequest, 'id'>[] = []
  const dispatch = createQueryWorkerDispatch({
    pool: {
      ask: (_account, question) => {
        asked.push(question)
        return Promise.resolve({ kind: 'needs_writer' })
      },
      rest: () => new ReadableStream(),
    },
    meter: { noteRequested: () => undefined },
    profiles: createClientProfiles([
      {
        name: 'desk',
        signs: [{ of: 'x-desk', pattern: /^oil/, weight: 1 }],
        needed: 1,
        switches: new Map(),
        retryAfterCapSeconds: 60,
      },
    ]),
    ids: { ...createRandomIds(), uuid: () => 'an-id' },
    now: () => 1_000,
    snapshotAt: () => 1_000,
    connections: { idle: () => undefined },
    isMalformed: names.isMalformed,
    isKnownCode: code => ['WTI_USD', 'BRENT_CRUDE_USD'].includes(code.trim()),
  })
  const requestContext = { route: '/v1/analytics/statistics' } as RequestContext
  await dispatch.answer(requestContext, new Request(url + query, { method, headers }), undefined, {
    headers: {},
  })
  return asked[0]
}

test('two who ask the same ask the same question, whatever traces and names they send', async () => {
  const [some, other] = await Promise.all([
    questionOf({ 'user-agent': 'a', traceparent: '00-1', authorization: 'Token a', cookie: 'a' }),
    questionOf({ 'user-agent': 'b', traceparent: '00-2', origin: 'https://b.example' }),
  ])
  expect(some).toEqual(other)
  expect(some!.headers).toEqual([['x-request-id', 'an-id']])
})

test('what an answer depends on is part of the question', async () => {
  const headers = {
    accept: 'text/csv',
    'accept-encoding': 'zstd',
    'if-none-match': '"1"',
    'if-range': '"2"',
    prefer: 'handling=lenient',
    range: 'bytes=0-9',
  }
  const question = (await questionOf({ ...headers, 'x-desk': 'oil' }))!
  expect(Object.fromEntries(question.headers)).toEqual({ ...headers, 'x-request-id': 'an-id' })
  expect(question.profile).toEqual({ name: 'desk', isForRefusals: false })
  expect((await questionOf(headers))!.profile).toBeUndefined()
})

test('a refusal that a query worker sends as 200 counts as the refusal, and its header stays inside', async () => {
  const dispatch = createQueryWorkerDispatch({
    pool: {
      ask: () =>
        Promise.resolve({
          kind: 'answer',
          id: 1,
          status: 200,
          headers: [
            ['content-type', 'application/xml'],
            [refusalStatusHeader, '404'],
          ],
          body: new TextEncoder().encode('<service/>'),
          goesOn: false,
          asked: [],
        }),
      rest: () => new ReadableStream(),
    },
    meter: { noteRequested: () => undefined },
    profiles: undefined,
    ids: { ...createRandomIds(), uuid: () => 'an-id' },
    now: () => 1_000,
    snapshotAt: () => 1_000,
    connections: { idle: () => undefined },
    isMalformed: () => false,
    isKnownCode: () => true,
  })
  const requestContext = { route: '/v1/excel/run.xml' } as RequestContext
  const reply = { headers: {} }
  await dispatch.answer(requestContext, new Request('http://localhost/x'), undefined, reply)
  expect(requestContext.outcome).toBe(404)
  expect(reply.headers).toEqual({ 'content-type': 'application/xml', 'x-request-id': 'an-id' })
})

test('a query worker names a request as its client does, in errors and log lines', async () => {
  const { headers } = (await questionOf({ 'x-request-id': 'of-the-client' }))!
  expect(headers).toEqual([['x-request-id', 'of-the-client']])
})

test('HEAD asks the question of GET, whose body has the length, and has no ranges', async () => {
  const question = await questionOf({ range: 'bytes=0-9', prefer: 'handling=lenient' }, '', 'HEAD')
  expect(question).toEqual((await questionOf({ prefer: 'handling=lenient' }))!)
})

test.each([
  'page=-1',
  'page=two',
  'per_page=0',
  'start_date=yesterday',
  'end_date=!',
  'as_of=now',
  'days=-1',
  'days=1.5',
  'interval=2d',
  'bars=perhaps',
])('no query worker receives %s, which its handler refuses directly', async parameter => {
  expect(await questionOf({}, `&${parameter}`)).toBeUndefined()
})

// Values that only a handler reads, such as capitals or numbers above a maximum, go to the worker.
test.each([
  'page=2',
  'per_page=1000000',
  'start_date=2026-01-01',
  'as_of=',
  'other=-1',
  'interval=1D',
  'bars=YES',
  'days=-1&start_date=2026-01-01',
  'days=400',
])('a query worker receives a request with %s', async parameter => {
  expect(await questionOf({}, `&${parameter}`)).toBeDefined()
})

test('an unknown code is refused without a query worker, in whichever parameter it is', async () => {
  const isAsked = async (query: string) => (await questionOf({}, query)) !== undefined
  expect(await isAsked('&codes=WTI_USD,%20BRENT_CRUDE_USD,')).toBe(true)
  for (const name of ['by_code', 'codes', 'code1', 'code2', 'commodity'])
    expect(`${name}: ${await isAsked(`&${name}=WTI_USD,NO_SUCH_CODE`)}`).toBe(`${name}: false`)
})
