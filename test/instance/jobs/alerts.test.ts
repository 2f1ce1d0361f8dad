import { expect, test } from 'bun:test'
import { alertJob } from '../../../src/instance/background-jobs.ts'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { hourMs, minuteMs } from '../../../src/lib/time/instant.ts'
import { above, openAlertInstance, startAt } from '../../support/topics/alerts.ts'

test('a moved clock stops where the interval of a code ends, and judges what waits there', async () => {
  const { watch, price, fired, services, clock } = openAlertInstance({ interval: '60s' })
  const alert = watch('WTI_USD', above(90))
  const job = alertJob(services.alerts.evaluation)
  expect(job.nextStop!(clock.now())).toBe(Number.POSITIVE_INFINITY)
  price('WTI_USD', 91)
  clock.advance(1000)
  price('WTI_USD', 92)
  expect(job.nextStop!(clock.now())).toBe(startAt + minuteMs)

  const stops: number[] = []
  const recordingJob = {
    ...job,
    pass() {
      stops.push(clock.now())
      return job.pass()
    },
  }
  await createRunner([recordingJob], clock, services.log).advance(clock, startAt + hourMs)
  expect(stops).toEqual([startAt + minuteMs, startAt + hourMs])
  expect(fired(alert)).toEqual([91, 92])
})
