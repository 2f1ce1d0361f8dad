import { type DatasetRow, neededText, refuse } from '../../../datasets/fields.ts'

/** The unit of a row, and how many of the stored unit one of it is; `usual` is an example. */
export function sizeIn(
  row: DatasetRow,
  units: ReadonlyMap<string, number>,
  usual: string,
): { unit: string; size: number } {
  const unit = neededText(row, 'unit', `write ${usual}`)
  const size =
    units.get(unit.toLowerCase()) ??
    refuse('unit', unit, 'is not known', `write ${[...units.keys()].join(' or ')}`)
  return { unit, size }
}
