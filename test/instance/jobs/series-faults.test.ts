import { expect, test } from 'bun:test'
import { seriesFaultsJob } from '../../../src/instance/background-jobs.ts'
import { dayMs, hourMs, secondMs } from '../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'

test('the faults of every series are cached after a job run', async () => {
  const { services, record, clock } = openTestInstance()
  record('GASOLINE_USD', [2.1, 2.2, 2.3], startAt - hourMs, dayMs)
  const job = seriesFaultsJob(services.seriesFaults, clock)
  await job.pass()
  // The service is bypassed: known values are not read again.
  services.db.run('DELETE FROM bars')
  const known = services.seriesFaults.all()
  expect(known).toEqual([])
  services.seriesFaults.forget(services.catalogue.named('GASOLINE_USD')!.id)
  expect(services.seriesFaults.all()).not.toEqual([])
})

test('a pass looks again after a quarter of a minute, not before', async () => {
  const { services, clock } = openTestInstance()
  let looks = 0
  const job = seriesFaultsJob(
    {
      renew: () => {
        looks += 1
        return services.seriesFaults.renew()
      },
    },
    clock,
  )
  await job.pass()
  clock.advance(14 * secondMs)
  await job.pass()
  expect(looks).toBe(1)
  clock.advance(secondMs)
  await job.pass()
  expect(looks).toBe(2)
})
