import aemoMap from '../../../fixtures/feeds/aemo.tsv' with { type: 'text' }
import albertaMap from '../../../fixtures/feeds/alberta.tsv' with { type: 'text' }
import bakerHughesMap from '../../../fixtures/feeds/baker_hughes.tsv' with { type: 'text' }
import cftcMap from '../../../fixtures/feeds/cftc.tsv' with { type: 'text' }
import ecOilBulletinMap from '../../../fixtures/feeds/ec_oil_bulletin.tsv' with { type: 'text' }
import ecbMap from '../../../fixtures/feeds/ecb.tsv' with { type: 'text' }
import eexAuctionsMap from '../../../fixtures/feeds/eex_auctions.tsv' with { type: 'text' }
import eiaMap from '../../../fixtures/feeds/eia.tsv' with { type: 'text' }
import eia930Map from '../../../fixtures/feeds/eia_930.tsv' with { type: 'text' }
import eiaBulkMap from '../../../fixtures/feeds/eia_bulk.tsv' with { type: 'text' }
import eiaWngsrMap from '../../../fixtures/feeds/eia_wngsr.tsv' with { type: 'text' }
import eiaWpsrMap from '../../../fixtures/feeds/eia_wpsr.tsv' with { type: 'text' }
import elexonMap from '../../../fixtures/feeds/elexon.tsv' with { type: 'text' }
import energyChartsMap from '../../../fixtures/feeds/energy_charts.tsv' with { type: 'text' }
import entsoeMap from '../../../fixtures/feeds/entsoe.tsv' with { type: 'text' }
import fredMap from '../../../fixtures/feeds/fred.tsv' with { type: 'text' }
import gieMap from '../../../fixtures/feeds/gie.tsv' with { type: 'text' }
import jodiMap from '../../../fixtures/feeds/jodi.tsv' with { type: 'text' }
import lbmaMap from '../../../fixtures/feeds/lbma.tsv' with { type: 'text' }
import norgesBankMap from '../../../fixtures/feeds/norges_bank.tsv' with { type: 'text' }
import smardMap from '../../../fixtures/feeds/smard.tsv' with { type: 'text' }
import ukRoadFuelMap from '../../../fixtures/feeds/uk_road_fuel.tsv' with { type: 'text' }
import worldBankMap from '../../../fixtures/feeds/world_bank.tsv' with { type: 'text' }
import { alberta } from './alberta.ts'
import { bakerHughes } from './baker-hughes.ts'
import { cftc } from './cftc.ts'
import { aemo } from './delivery/aemo.ts'
import { eia930 } from './delivery/eia-930.ts'
import { elexon } from './delivery/elexon.ts'
import { energyCharts } from './delivery/energy-charts.ts'
import { entsoe } from './delivery/entsoe.ts'
import { gie } from './delivery/gie.ts'
import { smard } from './delivery/smard.ts'
import { ecOilBulletin } from './ec-oil-bulletin.ts'
import { ecb } from './ecb.ts'
import { eexAuctions } from './eex-auctions.ts'
import { eia } from './eia.ts'
import { eiaBulk } from './eia-bulk.ts'
import { eiaWngsr } from './eia-wngsr.ts'
import { eiaWpsr } from './eia-wpsr.ts'
import { fred } from './fred.ts'
import { jodi } from './jodi.ts'
import { lbma } from './lbma.ts'
import { type MapEntry, mapOf } from './map.ts'
import { norgesBank } from './norges-bank.ts'
import type { Publisher } from './publisher.ts'
import { ukRoadFuel } from './uk-road-fuel.ts'
import { worldBank } from './world-bank.ts'

/** A publisher with the map of its series. */
export interface Feed {
  publisher: Publisher
  map: readonly MapEntry[]
}

const texts: readonly (readonly [publisher: Publisher, map: string])[] = [
  [eia, eiaMap],
  [eiaBulk, eiaBulkMap],
  [eiaWpsr, eiaWpsrMap],
  [eiaWngsr, eiaWngsrMap],
  [fred, fredMap],
  [ecb, ecbMap],
  [norgesBank, norgesBankMap],
  [worldBank, worldBankMap],
  [cftc, cftcMap],
  [jodi, jodiMap],
  [alberta, albertaMap],
  [ecOilBulletin, ecOilBulletinMap],
  [ukRoadFuel, ukRoadFuelMap],
  [eexAuctions, eexAuctionsMap],
  [bakerHughes, bakerHughesMap],
  [lbma, lbmaMap],
  [smard, smardMap],
  [elexon, elexonMap],
  [aemo, aemoMap],
  [eia930, eia930Map],
  [entsoe, entsoeMap],
  [gie, gieMap],
  [energyCharts, energyChartsMap],
]

/** All feeds, in the default order of preference. A map is parsed when it is first needed. */
export const shippedFeeds: readonly Feed[] = texts.map(([publisher, text]) => {
  let map: readonly MapEntry[] | undefined
  return {
    publisher,
    get map() {
      map ??= mapOf(publisher.name, text)
      return map
    },
  }
})

/** Feeds whose terms do not allow passing their values on. */
export const viewFeeds: readonly string[] = texts.flatMap(([{ name, licenseClass }]) =>
  licenseClass === 'view' ? [name] : [],
)
