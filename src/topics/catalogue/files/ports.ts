import portsText from '../../../../fixtures/ports.tsv' with { type: 'text' }
import { tsvRows } from '../../../lib/text/tsv.ts'
import { gradeOf, type Port, regionOf } from '../../fuels/math/marine.ts'

type Column = Exclude<keyof Port, 'major' | 'fuels'> | 'majorPort' | 'fuelServices'

/** The ports that ship with the program, largest first. */
export const shippedPorts = (): Port[] =>
  tsvRows<Column>(portsText)
    .map(({ majorPort, fuelServices, ...port }) => ({
      ...port,
      region: regionOf(port.region, false)!.regions[0]!,
      volumeRank: Number(port.volumeRank),
      latitude: Number(port.latitude),
      longitude: Number(port.longitude),
      major: majorPort === 'true',
      fuels: fuelServices.split(',').map(grade => gradeOf(grade)!),
    }))
    .sort((a, b) => a.volumeRank - b.volumeRank)
