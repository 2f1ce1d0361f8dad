import { describe, expect, test } from 'bun:test'
import { startAt } from '../../../support/instance/instance.ts'
import { openRoutes } from '../../../support/instance/routes.ts'

const dayMs = 86_400_000

function stocked() {
  const instance = openRoutes()
  instance.record('WTI_USD', [70, 72, 71.23], startAt - 60_000, dayMs)
  instance.record('BRENT_CRUDE_USD', [75, 75.5], startAt - 60_000, dayMs)
  instance.record('DUBAI_CRUDE_USD', [74], startAt - 60_000, 1)
  return instance
}

const instance = stocked()
const token = instance.key()
const bodyOf = async (path: string) =>
  (await (await instance.get(path, token)).json()) as { data: Record<string, unknown> }

describe('GET /v1/prices/widget', () => {
  test('has an item for each code asked, with the way it went', async () => {
    const body = await bodyOf('/v1/prices/widget?codes=WTI_USD,BRENT_CRUDE_USD,DUBAI_CRUDE_USD')
    expect(instance.documented('/v1/prices/widget', body)).toBe(true)
    expect(body.data.items).toMatchObject([
      {
        code: 'WTI_USD',
        price: 71.23,
        formatted: '$71.23',
        change_24h: -0.77,
        change_24h_percent: -1.07,
        direction: 'down',
      },
      { code: 'BRENT_CRUDE_USD', price: 75.5, change_24h: 0.5, direction: 'up' },
      { code: 'DUBAI_CRUDE_USD', price: 74, change_24h: null, direction: 'flat' },
    ])
    expect(body.data).toMatchObject({
      refresh_seconds: 300,
      attribution: 'Wellhead: Compiled from market reporting',
    })
  })

  test('without codes shows those of the demo that have a price', async () => {
    const { data } = await bodyOf('/v1/prices/widget')
    expect((data.items as { code: string }[]).map(item => item.code)).toEqual([
      'BRENT_CRUDE_USD',
      'WTI_USD',
    ])
  })

  test('the price widget recommends a longer refresh interval for prices published once a day', async () => {
    expect((await bodyOf('/v1/prices/widget?codes=DUBAI_CRUDE_USD')).data.refresh_seconds).toBe(
      3600,
    )
  })

  for (const [path, status, code] of [
    ['/v1/prices/widget?codes=NOPE_USD', 400, 'invalid_code'],
    ['/v1/prices/widget?codes=OMAN_CRUDE_USD', 404, 'DATA_NOT_AVAILABLE'],
    ['/v1/prices/widget?format=xml', 400, 'INVALID_PARAMETER'],
    [`/v1/prices/widget?codes=${Array(21).fill('WTI_USD').join(',')}`, 400, 'too_many_codes'],
    ['/v1/prices/widget/NOPE_USD', 400, 'invalid_code'],
    ['/v1/prices/widget/OMAN_CRUDE_USD', 404, 'DATA_NOT_AVAILABLE'],
    ['/v1/prices/widget/WTI_USD?days=91', 400, 'INVALID_PARAMETER'],
    ['/v1/prices/widget/WTI_USD?days=0', 400, 'INVALID_PARAMETER'],
  ] as const) {
    test(`${path.slice(0, 60)}: ${status} ${code}`, async () => {
      const answer = await instance.get(path, token)
      expect({ status: answer.status, xErrorCode: answer.headers.get('x-error-code') }).toEqual({
        status,
        xErrorCode: code,
      })
    })
  }
})

describe('GET /v1/prices/widget?format=html', () => {
  test('is one document that loads nothing and runs nothing', async () => {
    const answer = await instance.get('/v1/prices/widget?codes=WTI_USD&format=html', token)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toStartWith("default-src 'none'")
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    const page = await answer.text()
    expect(page).toStartWith('<!doctype html>')
    expect(page).toContain('WTI Crude Oil')
    expect(page).toContain('$71.23')
    expect(page).toContain('▼ -1.07%')
    expect(page).not.toMatch(
      /<(script|link|img|iframe|object|embed)|\bsrc=|href=|url\(|@import|https?:/,
    )
    expect(page).not.toContain(token)
  })

  test('shows the name of a series as text, whatever it is called', async () => {
    const hostile = stocked()
    const series = hostile.services.catalogue.resolve('WTI_USD', startAt)!.series
    series.name = `<script>alert("1")</script>'&`
    const page = await (
      await hostile.get('/v1/prices/widget?codes=WTI_USD&format=html', hostile.key())
    ).text()
    expect(page).not.toContain('<script')
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#x27;&amp;')
  })

  test('without a key is refused like any other path', async () => {
    expect((await instance.get('/v1/prices/widget?format=html')).status).toBe(401)
  })
})

describe('GET /v1/prices/widget/:code', () => {
  test('has the closes of its days, oldest first', async () => {
    const { data } = await bodyOf('/v1/prices/widget/wti_usd?days=2')
    expect(data.item).toMatchObject({ code: 'WTI_USD', price: 71.23, direction: 'down' })
    expect(data.sparkline).toEqual([
      { date: '2026-11-19', value: 72 },
      { date: '2026-11-20', value: 71.23 },
    ])
  })

  test('leaves quarantined days out', async () => {
    const quarantined = stocked()
    const series = quarantined.services.catalogue.resolve('WTI_USD', startAt)!.series
    quarantined.services.quarantine.add({
      seriesId: series.id,
      fromOn: '2026-11-19',
      toOn: '2026-11-19',
      reason: 'a test',
      createdAt: startAt,
    })
    const answer = await quarantined.get('/v1/prices/widget/WTI_USD', quarantined.key())
    const { data } = (await answer.json()) as { data: { sparkline: { date: string }[] } }
    expect(data.sparkline.map(point => point.date)).toEqual(['2026-11-18', '2026-11-20'])
  })
})
