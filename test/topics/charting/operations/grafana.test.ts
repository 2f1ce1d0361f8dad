import { describe, expect, test } from 'bun:test'
import dashboard from '../../../../docs/monitoring/prices-dashboard.json'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

const range = {
  from: new Date(startAt - 10 * dayMs).toISOString(),
  to: new Date(startAt).toISOString(),
}

function open() {
  const instance = openTestInstance({}, startAt)
  const key = instance.key()
  instance.record('WTI_USD', [60, 61, 62, 63], startAt - hourMs, dayMs)
  return {
    instance,
    key,
    async post(path: string, body: unknown) {
      const response = await instance.send('POST', `/grafana${path}`, body, key)
      return { status: response.status, body: (await response.json()) as never }
    },
  }
}

describe('a JSON data source of a dashboard', () => {
  test('is tested with the key, and refused without one', async () => {
    const { instance, key } = open()
    expect((await instance.get('/grafana', key)).status).toBe(200)
    expect((await instance.get('/grafana')).status).toBe(401)
    const basic = { authorization: `Basic ${btoa(`${key}:`)}` }
    expect((await instance.get('/grafana', undefined, basic)).status).toBe(200)
  })

  test('finds codes that have data', async () => {
    const { post } = open()
    expect((await post('/search', { target: 'wti' })).body).toEqual(['WTI_USD'] as never)
    expect((await post('/search', {})).body).toEqual(['WTI_USD'] as never)
    const variable = { payload: { target: 'wti' }, range: {} }
    expect((await post('/variable', variable)).body).toEqual(['WTI_USD'] as never)
    expect((await post('/metrics', { metric: 'GOLD_USD' })).body).toEqual(['WTI_USD'] as never)
  })

  test('gets points, the oldest first, or a table, and nothing of hidden targets', async () => {
    const { post } = open()
    const { body } = await post('/query', {
      range,
      intervalMs: dayMs,
      maxDataPoints: 3,
      targets: [
        { target: 'WTI_USD', refId: 'A' },
        { target: 'WTI_USD', refId: 'B', type: 'table' },
        { target: 'WTI_USD', refId: 'C', hide: true },
      ],
    })
    const [points, table] = body as unknown as [
      { target: string; refId: string; datapoints: [number, number][] },
      { columns: { text: string }[]; rows: [number, string, number][] },
    ]
    expect({ ...points, datapoints: points.datapoints.map(([value]) => value) }).toEqual({
      target: 'WTI_USD',
      refId: 'A',
      datapoints: [61, 62, 63],
    })
    const times = points.datapoints.map(([, time]) => time)
    expect(times).toEqual(times.toSorted())
    expect(table.rows).toEqual(points.datapoints.map(([value, time]) => [time, 'WTI_USD', value]))
    expect((body as unknown[]).length).toBe(2)
  })

  test('gets the points of each value of a variable that has several', async () => {
    const { instance, post } = open()
    instance.record('BRENT_CRUDE_USD', [70], startAt - hourMs, dayMs)
    const targets = [{ target: '(WTI_USD|BRENT_CRUDE_USD)', refId: 'A' }]
    const { body } = await post('/query', { range, intervalMs: dayMs, targets })
    expect(
      (body as { target: string; refId: string }[]).map(row => [row.target, row.refId]),
    ).toEqual([
      ['WTI_USD', 'A'],
      ['BRENT_CRUDE_USD', 'A'],
    ])
    const many = `(${Array.from({ length: 21 }, () => 'WTI_USD').join('|')})`
    expect((await post('/query', { range, targets: [{ target: many }] })).status).toBe(400)
  })

  test('shows corrections as annotations', async () => {
    const { instance, post } = open()
    instance.clock.advance(dayMs)
    instance.record('WTI_USD', [62.5], startAt - hourMs - dayMs, dayMs)
    const { body } = await post('/annotations', { range, annotation: { query: 'WTI_USD' } })
    expect(body as unknown[]).toEqual([
      expect.objectContaining({
        time: startAt - hourMs - dayMs,
        text: expect.stringContaining('62 to 62.5'),
        tags: ['correction'],
      }),
    ])
  })

  test.each([
    ['/query', { targets: [{ target: 'WTI_USD' }] }],
    ['/query', { range: { from: 'yesterday', to: 'today' }, targets: [{ target: 'WTI_USD' }] }],
    ['/query', { range, targets: [{ target: 'NOPE_USD' }] }],
    ['/annotations', { range }],
  ])('%s %o is refused with 400', async (path, body) => {
    expect((await open().post(path, body)).status).toBe(400)
  })
})

test('the dashboard for Infinity charts every day of its window', async () => {
  const { instance, key } = open()
  instance.record(
    'WTI_USD',
    Array.from({ length: 200 }, (_, day) => 60 + day / 100),
    startAt,
    dayMs,
  )
  const [, chart] = dashboard.panels
  const { type, url, url_options: options, columns } = chart!.targets[0]!
  const query = new URLSearchParams(
    options.params.map(({ key, value }): [string, string] => [
      key,
      value.replace(/\$\{code\}/, 'WTI_USD'),
    ]),
  )
  const path = `${url.replace(/\$\{base\}/, '')}?${query}`
  const response = await instance.get(path, key, { accept: 'text/csv; charset=utf-8' })
  const [names, ...rows] = (await response.text()).trim().split('\n')
  expect(type).toBe('csv')
  expect(names!.split(',')).toContainValues(columns.map(({ selector }) => selector))
  expect(rows).toHaveLength(200)
})
