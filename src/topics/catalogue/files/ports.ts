import portsText from '../../../../fixtures/ports.tsv' with { type: 'text' }
import { gradeOf, type Port, regionOf } from '../../fuels/math/marine.ts'

/** The ports that ship with the program, largest first. */
export function shippedPorts(): Port[] {
  const rows = portsText
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split('\t'))
  return rows
    .map(
      ([
        code,
        shortCode,
        slug,
        name,
        country,
        region,
        timezone,
        rank,
        latitude,
        longitude,
        major,
        tradingHours,
        fuels,
      ]) => ({
        code: code!,
        shortCode: shortCode!,
        slug: slug!,
        name: name!,
        country: country!,
        timezone: timezone!,
        region: regionOf(region!, false)!.regions[0]!,
        volumeRank: Number(rank),
        latitude: Number(latitude),
        longitude: Number(longitude),
        major: major === 'true',
        tradingHours: tradingHours!,
        fuels: fuels!.split(',').map(grade => gradeOf(grade)!),
      }),
    )
    .sort((a, b) => a.volumeRank - b.volumeRank)
}
