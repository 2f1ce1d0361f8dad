import { Members, Page } from '../parts/page.tsx'
import { Tabs, useTitle, type Views } from '../parts/tabs.tsx'
import { Correlation } from './markets/correlation.tsx'
import { Curves } from './markets/curve.tsx'
import { Permits } from './markets/permits.tsx'
import { PositionsView } from './markets/positions.tsx'
import { Power } from './markets/power.tsx'
import { Rigs } from './markets/rigs.tsx'
import { Seasons } from './markets/seasons.tsx'
import { Spreads } from './markets/spreads.tsx'
import { Storage } from './markets/storage.tsx'

const views: Views<'markets'> = {
  '': Curves,
  spreads: Spreads,
  power: Power,
  storage: Storage,
  seasons: Seasons,
  correlation: Correlation,
  positions: PositionsView,
  rigs: Rigs,
  permits: Permits,
}

/** Markets as a whole: curves, spreads, stocks and seasons. */
export function Markets() {
  const title = useTitle('markets')
  return (
    <Members
      title="Markets"
      about="Forward curves, spreads, power by the hour, storage, seasonality, positions, rigs and well permits."
    >
      {() => (
        <Page title={title}>
          <Tabs page="markets" views={views} />
        </Page>
      )}
    </Members>
  )
}
