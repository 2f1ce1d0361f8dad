import { expect, test } from 'bun:test'
import { watchJob } from '../../../src/instance/background-jobs.ts'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { hourMs, isoInstant, minuteMs } from '../../../src/lib/time/instant.ts'
import { openWatchInstance, startAt } from '../../support/topics/watches.ts'

test('a moved clock stops at every run, in order, where a clock that jumped has one', async () => {
  const instance = openWatchInstance()
  const { services, clock } = instance
  const [quick, slow] = [
    instance.watch({ intervalSeconds: 600 }),
    instance.watch({ intervalSeconds: 1500 }),
  ]
  const job = watchJob(services.watchRuns)
  await createRunner([job], clock, services.log).advance(clock, startAt + hourMs)
  const runs = instance
    .events()
    .filter(event => event.type === 'evaluated')
    .map(event => [
      event.watch_id === quick.id ? 'quick' : event.watch_id === slow.id ? 'slow' : '?',
      event.created_at,
    ])
  const at = (minutes: number) => isoInstant(startAt + minutes * minuteMs)
  expect(runs).toEqual([
    ...[10, 20].map(minutes => ['quick', at(minutes)]),
    ['slow', at(25)],
    ...[30, 40].map(minutes => ['quick', at(minutes)]),
    ['quick', at(50)],
    ['slow', at(50)],
    ['quick', at(60)],
  ])
  clock.advance(hourMs)
  await job.pass()
  expect(instance.events().filter(event => event.type === 'evaluated')).toHaveLength(
    runs.length + 2,
  )
})
