import type { Settings } from '../../operator/store/settings.ts'
import type { Component } from './component.ts'
import { apiComponent, databaseComponent, ingestComponent } from './condition.ts'
import type { Freshness } from './freshness.ts'
import type { SeriesFaults } from './series-faults.ts'
import type { Vitals } from './vitals.ts'

export interface PublicPartsDeps extends Pick<Vitals, 'isOverloaded' | 'senders' | 'queryWorkers'> {
  settings: Settings
  freshness: Pick<Freshness, 'feeds'>
  seriesFaults: Pick<SeriesFaults, 'codes'>
}

/** The parts of the service without its jobs, in words for the public. */
export const publicParts = ({
  settings,
  freshness,
  seriesFaults,
  isOverloaded,
  queryWorkers,
  senders,
}: PublicPartsDeps): Component[] => [
  apiComponent(isOverloaded(), queryWorkers()),
  databaseComponent(settings),
  ingestComponent(freshness.feeds(), seriesFaults.codes()),
  ...senders(),
]
