/**
 * The id of a sample record, the same in every demo instance. Each kind of record has its range of
 * a hundred numbers.
 */
export const sampleId = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
