/** `releaseLagDays` as `release_lag_days`. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
