import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { correctionsMax } from '../../../../src/topics/webhooks/service/correction-events.ts'
import type { Endpoint } from '../../../../src/topics/webhooks/store/webhooks.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { openWebhookInstance, type WebhookInstance } from '../../../support/topics/webhooks.ts'

interface Sent {
  type: string
  data: Record<string, unknown>
}

const sent = (instance: WebhookInstance, endpoint: Pick<Endpoint, 'id'>): Sent[] =>
  instance
    .entries(endpoint)
    .flatMap(entry => (entry.state === 'skipped' ? [] : [JSON.parse(entry.body) as Sent]))
const dataOf = (instance: WebhookInstance, endpoint: Pick<Endpoint, 'id'>) =>
  sent(instance, endpoint).map(event => event.data)

const opened = (settings: Parameters<WebhookInstance['endpoint']>[1] = {}) => {
  const instance = openWebhookInstance()
  const endpoint = instance.endpoint(instance.account(), {
    events: ['price.corrected'],
    ...settings,
  })
  const { id } = instance.services.catalogue.named('WTI_USD')!
  return { instance, endpoint, id, ...instance.services }
}

describe('a corrected value', () => {
  test('sends its event with both values, however old it is', () => {
    const { instance, endpoint } = opened()
    const observedAt = startAt - 400 * dayMs
    instance.price('WTI_USD', 70, observedAt)
    instance.price('WTI_USD', 71)
    instance.clock.advance(minuteMs)
    instance.price('WTI_USD', 72.345, observedAt)
    expect(sent(instance, endpoint)).toMatchObject([
      {
        type: 'price.corrected',
        data: {
          commodity: 'WTI_USD',
          commodity_code: 'WTI_USD',
          name: 'WTI Crude Oil',
          kind: 'revised',
          value: 72.35,
          previous_value: 70,
          currency: 'USD',
          unit: 'barrel',
          observed_at: isoInstant(observedAt),
          recorded_at: isoInstant(startAt + minuteMs),
          corrections: 1,
        },
      },
    ])
  })
  test('that is deleted and then restored sends an event for each, without the value that is absent', () => {
    const { instance, endpoint, ingest, id } = opened()
    instance.price('WTI_USD', 70)
    ingest.withdraw(id, [startAt, startAt - minuteMs])
    instance.price('WTI_USD', 70)
    expect(dataOf(instance, endpoint)).toMatchObject([
      { kind: 'deleted', value: null, previous_value: 70, corrections: 1 },
      { kind: 'revised', value: 70, previous_value: null },
    ])
  })
  test('that one write restores and corrects sends one event, with its last value', () => {
    const { instance, endpoint, ingest, id } = opened()
    instance.price('WTI_USD', 70)
    ingest.withdraw(id, [startAt])
    instance.clock.advance(minuteMs)
    const point = { seriesId: id, observedAt: startAt }
    ingest.write([
      { ...point, value: 71, recordedAt: startAt + minuteMs - 20 },
      { ...point, value: 72, recordedAt: startAt + minuteMs - 10 },
    ])
    expect(dataOf(instance, endpoint).slice(1)).toMatchObject([
      { kind: 'revised', value: 72, previous_value: null },
    ])
  })
  test('of a delivery period that has not begun sends its event, because the period is served already', () => {
    const { instance, endpoint, catalogue } = opened()
    const { code } = catalogue.list().find(series => series.delivery)!
    for (const value of [70, 71]) instance.price(code, value, startAt + 12 * hourMs)
    expect(dataOf(instance, endpoint)).toMatchObject([{ commodity: code, value: 71 }])
  })
  test('sends an event for every change, also of one millisecond', () => {
    const { instance, endpoint } = opened()
    for (const value of [70, 71, 72]) instance.price('WTI_USD', value)
    expect(dataOf(instance, endpoint).map(data => [data.previous_value, data.value])).toEqual([
      [70, 71],
      [71, 72],
    ])
  })
  test('sends its event only to endpoints that name it, for which a price is not always a new one', () => {
    const { instance, endpoint } = opened({ events: ['*', 'price.*', 'price.updated'] })
    const named = instance.endpoint(instance.account(), { events: ['*', 'price.corrected'] })
    instance.price('WTI_USD', 70)
    instance.price('WTI_USD', 71)
    const types = (of: Endpoint) => sent(instance, of).map(event => event.type)
    expect(types(endpoint)).toEqual(['price.updated'])
    expect(types(named)).toEqual(['price.updated', 'price.corrected'])
  })
  test('of a restricted series sends its event to the accounts that see it', () => {
    const { instance, endpoint } = opened()
    const other = instance.account()
    const theirs = instance.endpoint(other, { events: ['price.corrected'] })
    instance.services.seriesChanges.add([
      {
        code: 'DESK_USD',
        terms: {
          name: 'Desk',
          category: 'crude_oil',
          unit: 'barrel',
          currency: 'USD',
          visibleTo: [other.account.id],
        },
      },
    ])
    for (const value of [70, 71]) instance.price('DESK_USD', value)
    expect(dataOf(instance, endpoint)).toEqual([])
    expect(dataOf(instance, theirs)).toMatchObject([{ commodity: 'DESK_USD', value: 71 }])
  })
})

describe('a batch that is undone', () => {
  test('sends an event for each value that it had corrected or added', () => {
    const { instance, endpoint, id, batches } = opened()
    instance.price('WTI_USD', 70, startAt - dayMs)
    const { batch } = batches.record({ kind: 'file', actor: 'a' }, [
      { seriesId: id, observedAt: startAt - dayMs, value: 71 },
      { seriesId: id, observedAt: startAt, value: 72 },
    ])
    batches.undo(batch, { actor: 'a' }, false)
    expect(
      dataOf(instance, endpoint).map(data => [data.kind, data.previous_value, data.value]),
    ).toEqual([
      ['revised', 70, 71],
      ['revised', 71, 70],
      ['deleted', 72, null],
    ])
  })
})

describe('no event of a correction', () => {
  test('is sent for a new, repeated, quarantined, hidden or future value', () => {
    const { instance, endpoint, id, quarantine } = opened()
    const day = startAt - 3 * dayMs
    for (const value of [70, 70]) instance.price('WTI_USD', value)
    for (const value of [60, 61]) instance.price('WTI_USD', value, startAt + dayMs)
    instance.price('WTI_USD', 50, day)
    quarantine.add({
      seriesId: id,
      fromOn: isoInstant(day).slice(0, 10),
      toOn: isoInstant(day).slice(0, 10),
      reason: 'a bad feed',
      createdAt: startAt,
    })
    instance.price('WTI_USD', 51, day)
    expect(dataOf(instance, endpoint)).toEqual([])
  })
  test('is sent for a value that the same write inserted', () => {
    const { instance, endpoint, id, ingest } = opened()
    ingest.write([
      { seriesId: id, observedAt: startAt - dayMs, value: 70, recordedAt: startAt - 20 },
      { seriesId: id, observedAt: startAt - dayMs, value: 71, recordedAt: startAt - 10 },
    ])
    expect(dataOf(instance, endpoint)).toEqual([])
  })
  test('is sent for values and deletions that were recorded long before they are written', () => {
    const { instance, endpoint, id, ingest } = opened()
    const [observedAt, knownAt] = [startAt - 9 * dayMs, startAt - 8 * dayMs]
    ingest.write([{ seriesId: id, observedAt, value: 70, recordedAt: knownAt }])
    ingest.write([{ seriesId: id, observedAt, value: 71, recordedAt: knownAt + hourMs }])
    ingest.withdraw(id, [observedAt], knownAt + 2 * hourMs)
    expect(dataOf(instance, endpoint)).toEqual([])
  })
  test('is sent for a rig count or a futures contract that is not the front one', () => {
    const { instance, endpoint } = opened()
    const { front, later } = instance.futures()
    for (const value of [70, 71])
      for (const code of [later.code, front.code, 'US_RIG_COUNT']) instance.price(code, value)
    expect(dataOf(instance, endpoint)).toMatchObject([{ commodity: front.code }])
  })
})

test('a write that corrects many values sends events for the newest and counts all of them', () => {
  const { instance, endpoint } = opened()
  const count = correctionsMax + 5
  for (const base of [60, 80])
    instance.record(
      'WTI_USD',
      Array.from({ length: count }, (_, i) => base + i / 100),
      startAt,
      minuteMs,
    )
  const data = dataOf(instance, endpoint)
  expect(data.length).toBe(correctionsMax)
  expect(new Set(data.map(({ corrections }) => corrections))).toEqual(new Set([count]))
  expect(data[0]!.observed_at).toBe(isoInstant(startAt - (correctionsMax - 1) * minuteMs))
  expect(data.at(-1)!.observed_at).toBe(isoInstant(startAt))
})
