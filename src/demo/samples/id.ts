/**
 * The id of a sample record, the same in every demo instance: records of one kind have a hundred
 * of their own.
 */
export const sampleId = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
