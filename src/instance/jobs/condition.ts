import type { Clock } from '../../lib/time/clock.ts'
import { minuteMs } from '../../lib/time/instant.ts'
import type { Component } from '../../topics/condition/service/component.ts'
import type { Incidents } from '../../topics/condition/service/incidents.ts'
import { createInterval } from './interval.ts'
import type { Job } from './job.ts'

export interface ConditionJobDeps {
  incidents: Incidents
  parts: () => readonly Component[]
  /** Whether there is an observation: an instance without data cannot be late. */
  hasData: () => boolean
  /** False in a demo instance: people move its clock, so gaps in time are not outages. */
  isClockReal: boolean
  clock: Clock
}

/** Writes down once a minute which parts of the service are not as they should be. */
export function createConditionJob(deps: ConditionJobDeps): Job {
  const { incidents, parts, hasData, isClockReal, clock } = deps
  const isDue = createInterval(minuteMs, clock)
  return {
    name: 'condition',
    pass() {
      if (!isDue()) return
      if (isClockReal) incidents.noteRunning()
      const hasObservations = hasData()
      incidents.note(parts().filter(({ name }) => name !== 'ingest' || hasObservations))
    },
  }
}
