import { describe, expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { browsingLimits } from '../../../../src/plans/limits.ts'
import {
  bodyOf,
  type FrontDoor,
  type Opened,
  openFrontDoor,
  rateOf,
} from '../../../support/instance/front-door.ts'

/** The headers that a browser adds to requests of a console page. */
const ownPage = { 'sec-fetch-site': 'same-origin' }

const signIn = async ({ services: { sessions } }: FrontDoor, { account }: Opened) => {
  const { token, session } = await sessions.issue(account, 'password')
  sessions.write(session)
  return `session=${token}`
}

/** How often a path is answered with each status. */
async function statuses(times: number, get: () => Promise<Response>) {
  const counts: Record<number, number> = {}
  for (let i = 0; i < times; i += 1) {
    const { status } = await get()
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

interface Report {
  via: string
  overview: { totalRequests: number }
  endpointBreakdown: { endpoint: string; via: string; requests: number }[]
}

describe('browsing in the console', () => {
  test('takes nothing from the quota or the rate limit of the account', async () => {
    const door = openFrontDoor()
    const opened = door.open('free')
    const cookie = await signIn(door, opened)
    const browse = () => door.ask('GET', '/probe/counted', { headers: { ...ownPage, cookie } })
    expect(await statuses(120, browse)).toEqual({ 200: 120 })
    const answer = await door.get('/probe/counted', opened.token)
    expect(rateOf(answer)).toMatchObject({ limit: '50', used: '1' })
    expect(answer.headers.get('ratelimit')).toContain('"burst";r=59')
    expect(door.services.meter.monthly(opened.account, 0)).toBe(1)
  })

  test('console browsing continues after the account has used up its quota', async () => {
    const door = openFrontDoor({ flags: { 'quota.scope': 'account' } })
    const opened = door.open('free')
    await statuses(50, () => door.get('/probe/counted', opened.token))
    expect((await door.get('/probe/counted', opened.token)).status).not.toBe(200)
    const cookie = await signIn(door, opened)
    const browse = () => door.ask('GET', '/probe/counted', { headers: { ...ownPage, cookie } })
    expect(await statuses(20, browse)).toEqual({ 200: 20 })
  })

  test('has 600 requests a minute for each sign-in, which the answers name', async () => {
    const door = openFrontDoor()
    const opened = door.open('free')
    const [one, other] = [await signIn(door, opened), await signIn(door, opened)]
    const browse = (cookie: string) =>
      door.ask('GET', '/probe/free', { headers: { ...ownPage, cookie } })
    const { perMinute } = browsingLimits
    expect(perMinute).toBe(600)
    const first = await browse(one)
    expect(first.headers.get('ratelimit-policy')).toContain('"browsing";q=600;w=60')
    expect(first.headers.get('ratelimit')).toContain('"browsing";r=599')
    expect(await statuses(perMinute, () => browse(one))).toEqual({ 200: perMinute - 1, 429: 1 })
    expect((await browse(other)).status).toBe(200)
    door.clock.advance(60_000)
    expect((await browse(one)).status).toBe(200)
  })

  test.each([
    ['a program with nothing but the cookie', {}],
    ['a page of another site', { origin: 'https://elsewhere.example' }],
    ['an address that was typed', { 'sec-fetch-site': 'none' }],
  ])('is not what %s does with the session', async (_, headers) => {
    const door = openFrontDoor()
    const opened = door.open('free')
    const cookie = await signIn(door, opened)
    const answers = await statuses(60, () =>
      door.ask('GET', '/probe/counted', { headers: { ...headers, cookie } }),
    )
    expect(answers[200] ?? 0).toBeLessThanOrEqual(50)
    expect(door.services.meter.monthly(opened.account, 0)).toBe(answers[200] ?? 0)
  })

  test('is not what a session token in the Authorization header does', async () => {
    const door = openFrontDoor()
    const opened = door.open('free')
    const token = (await signIn(door, opened)).slice('session='.length)
    const headers = { ...ownPage, authorization: `Bearer ${token}` }
    await statuses(3, () => door.ask('GET', '/probe/counted', { headers }))
    expect(door.services.meter.monthly(opened.account, 0)).toBe(3)
  })

  test('is recognized over plain http, where browsers send no Sec-Fetch-Site', async () => {
    const door = openFrontDoor()
    const opened = door.open('free')
    const cookie = await signIn(door, opened)
    const headers = { cookie, referer: 'http://localhost/board' }
    expect(await statuses(70, () => door.ask('GET', '/probe/counted', { headers }))).toEqual({
      200: 70,
    })
    expect(door.services.meter.monthly(opened.account, 0)).toBe(0)
  })

  test('counts like a client beyond a day’s requests, whichever sign-in is used', async () => {
    const door = openFrontDoor()
    const opened = door.open('free')
    const browse = (cookie: string) =>
      door.ask('GET', '/probe/counted', { headers: { ...ownPage, cookie } })
    const answered: Record<number, number> = {}
    for (let made = 0; made < browsingLimits.perDay; made += 500) {
      const cookie = await signIn(door, opened)
      const { 200: ok = 0 } = await statuses(500, () => browse(cookie))
      answered[200] = (answered[200] ?? 0) + ok
    }
    expect(answered[200]).toBe(browsingLimits.perDay)
    const cookie = await signIn(door, opened)
    expect(door.services.meter.monthly(opened.account, 0)).toBe(0)
    expect((await browse(cookie)).status).toBe(200)
    expect(door.services.meter.monthly(opened.account, 0)).toBe(1)
    door.clock.advance(dayMs)
    const next = await signIn(door, opened)
    await browse(next)
    expect(door.services.meter.monthly(opened.account, 0)).toBe(1)
  })

  test('is reported apart from the requests of clients', async () => {
    const door = openFrontDoor()
    const opened = door.open('enterprise')
    const cookie = await signIn(door, opened)
    await statuses(4, () => door.ask('GET', '/probe/counted', { headers: { ...ownPage, cookie } }))
    await statuses(3, () => door.get('/probe/counted', opened.token))
    const report = async (query: string) =>
      (await bodyOf(
        await door.get(`/v1/analytics/performance${query}`, opened.token),
      )) as unknown as Report
    expect(await report('')).toMatchObject({
      via: 'api',
      overview: { totalRequests: 3 },
      endpointBreakdown: [{ endpoint: '/probe/counted', via: 'api', requests: 3 }],
    })
    expect(await report('?via=console')).toMatchObject({
      via: 'console',
      overview: { totalRequests: 4 },
      endpointBreakdown: [{ endpoint: '/probe/counted', via: 'console', requests: 4 }],
    })
    const all = await report('?via=all')
    expect(all.endpointBreakdown).toMatchObject([
      { endpoint: '/probe/counted', via: 'console', requests: 4 },
      { endpoint: '/probe/counted', via: 'api', requests: 3 },
      { endpoint: '/v1/analytics/performance', via: 'api', requests: 2 },
    ])
    expect((await door.get('/v1/analytics/performance?via=web', opened.token)).status).toBe(400)
  })
})
