import { describe, expect, test } from 'bun:test'
import { conditionJob } from '../../../../src/instance/background-jobs.ts'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import type { Component } from '../../../../src/topics/condition/service/component.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'

interface Answer {
  days: number
  incidents: {
    part: string
    status: string
    message: string | null
    began_at: string
    ended_at: string | null
  }[]
}

function watched() {
  const instance = openTestInstance()
  const { services, clock } = instance
  let parts: Component[] = []
  let hasData = true
  const job = () =>
    conditionJob({
      ...services,
      parts: () => parts,
      hasData: () => hasData,
      isClockReal: true,
    })
  let running = job()
  return {
    instance,
    clock,
    restart: () => {
      running = job()
    },
    empty: () => {
      hasData = false
    },
    /** A pass with what the parts are then, a minute after the last one. */
    pass(...now: Component[]) {
      parts = now
      clock.advance(minuteMs)
      void running.pass()
    },
    async incidents() {
      const response = await instance.get('/status/incidents.json')
      expect(response.status).toBe(200)
      return ((await response.json()) as Answer).incidents
    },
  }
}

describe('GET /status/incidents.json', () => {
  test('an incident reports from when to when a component was impaired and its worst status', async () => {
    const { pass, incidents, clock } = watched()
    pass({ name: 'email', status: 'operational' }, { name: 'sms', status: 'disabled' })
    expect(await incidents()).toEqual([])
    pass({ name: 'email', status: 'degraded', message: 'E-mails wait.' })
    const began = clock.now()
    pass({ name: 'email', status: 'down', message: 'No e-mail is sent.' })
    pass({ name: 'email', status: 'degraded', message: 'E-mails wait again.' })
    expect(await incidents()).toMatchObject([
      { part: 'email', status: 'down', message: 'E-mails wait again.', ended_at: null },
    ])
    pass({ name: 'email', status: 'operational' })
    pass({ name: 'email', status: 'operational' })
    const [incident, ...others] = await incidents()
    expect(others).toEqual([])
    expect(Date.parse(incident!.began_at)).toBe(began)
    expect(Date.parse(incident!.ended_at!)).toBe(began + 3 * minuteMs)
  })

  test('forgets after ninety days', async () => {
    const { pass, incidents, clock } = watched()
    pass({ name: 'database', status: 'degraded' })
    pass({ name: 'database', status: 'operational' })
    clock.advance(90 * dayMs - hourMs)
    expect(await incidents()).toHaveLength(1)
    clock.advance(2 * hourMs)
    expect(await incidents()).toEqual([])
  })

  test('are not forgotten because of a clock that is a year ahead', async () => {
    const { pass, incidents, clock } = watched()
    pass({ name: 'database', status: 'degraded' })
    pass({ name: 'database', status: 'operational' })
    const at = clock.now()
    clock.set(at + 365 * dayMs)
    pass({ name: 'database', status: 'operational' })
    clock.set(at)
    expect((await incidents()).map(({ part }) => part)).toContain('database')
  })

  test('an outage of the service is reported as an incident, and a restart is not', async () => {
    const { pass, restart, incidents, clock, instance } = watched()
    pass()
    clock.advance(3 * minuteMs)
    restart()
    pass()
    expect(await incidents()).toEqual([])
    const before = Number(instance.services.settings.get('condition.seen_at'))
    clock.advance(2 * hourMs)
    restart()
    pass()
    expect(await incidents()).toMatchObject([
      { part: 'api', status: 'down', message: 'The service did not run.' },
    ])
    const [outage] = await incidents()
    expect(Date.parse(outage!.began_at)).toBe(before)
    expect(Date.parse(outage!.ended_at!)).toBe(clock.now())
  })

  test('an instance that has no data yet reports no late data as an incident', async () => {
    const { pass, incidents, empty } = watched()
    empty()
    pass({ name: 'ingest', status: 'degraded', message: 'Nothing has been recorded yet.' })
    expect(await incidents()).toEqual([])
  })
})

describe('GET /status/incidents.rss', () => {
  test('has an item for the beginning and one for the end, with everything escaped', async () => {
    const { pass, instance } = watched()
    pass({ name: 'ingest', status: 'degraded', message: 'Stale: <A&B>.' })
    pass({ name: 'ingest', status: 'operational' })
    const response = await instance.get('/status/incidents.rss')
    expect(response.headers.get('content-type')).toStartWith('application/rss+xml')
    const text = await response.text()
    expect(text.match(/<item>/g)).toHaveLength(2)
    expect(text).toContain('Stale: &lt;A&amp;B&gt;.')
    expect(text).not.toContain('<A&B>')
    expect(text.indexOf('-ended</guid>')).toBeLessThan(text.indexOf('ingest: degraded'))
    expect(text).toMatch(/<pubDate>\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT<\/pubDate>/)
  })
})
