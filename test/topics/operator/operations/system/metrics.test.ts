import { describe, expect, test } from 'bun:test'
import { minuteMs } from '../../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const instance = openTestInstance()
const adminToken = instance.services.adminTokens.rotate()
const scraped = async () =>
  (await instance.get('/metrics', undefined, { authorization: `Bearer ${adminToken}` })).text()
/** The value of a line of the exposition. */
const lineValue = (text: string, name: string): number | undefined => {
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

describe('GET /metrics', () => {
  test('is for the operator only', async () => {
    expect((await instance.get('/metrics')).status).toBe(401)
    expect((await instance.get('/metrics', instance.key())).status).toBe(401)
  })

  test('counts answers by route, status and plan, refusals by code, and observations by source', async () => {
    const key = instance.key('scale')
    instance.record('WTI_USD', [70, 71, 72], startAt, minuteMs)
    instance.record('WTI_USD', [70, 71, 73], startAt, minuteMs)
    for (let i = 0; i < 3; i += 1) await instance.get('/v1/prices/latest?by_code=WTI_USD', key)
    await instance.get('/v1/prices/latest?by_code=NO_SUCH_CODE', key)
    await instance.get('/v1/prices/latest')
    const text = await scraped()
    const route = 'route="/v1/prices/latest"'
    const of = (name: string) => lineValue(text, name)
    expect(of(`wellhead_requests_total{${route},status="200",plan="scale"}`)).toBe(3)
    expect(of(`wellhead_requests_total{${route},status="401",plan=""}`)).toBe(1)
    expect(of(`wellhead_request_duration_seconds_count{${route}}`)).toBe(5)
    expect(of(`wellhead_request_duration_seconds_bucket{${route},le="+Inf"}`)).toBe(5)
    expect(of('wellhead_refusals_total{code="UNAUTHORIZED"}')).toBeGreaterThanOrEqual(1)
    const source = instance.services.catalogue.named('WTI_USD')!.source
    expect(of(`wellhead_observations_total{source="${source}",kind="inserted"}`)).toBe(3)
    expect(of(`wellhead_observations_total{source="${source}",kind="revised"}`)).toBe(1)
    expect(of('wellhead_writable')).toBe(1)
  })

  test('names no account, no key and no address', async () => {
    const key = instance.key('scale', { email: 'secret.person@example.com' })
    await instance.get(`/v1/prices/latest?api_key=${key}`)
    await instance.get('/v1/nothing/here', key)
    const text = await scraped()
    for (const word of [key, 'secret.person', '/v1/nothing']) expect(text).not.toContain(word)
  })

  test('the metrics report that writes are refused and why', async () => {
    const { disk } = instance.services
    disk.failed(Object.assign(new Error('no'), { code: 'SQLITE_IOERR_WRITE' }))
    const text = await scraped()
    expect(lineValue(text, 'wellhead_writable')).toBe(0)
    expect(text).toContain(
      'wellhead_storage_faults_total{reason="the disk fails (SQLITE_IOERR_WRITE)"} 1',
    )
    disk.pass()
    expect(lineValue(await scraped(), 'wellhead_writable')).toBe(1)
  })
})
