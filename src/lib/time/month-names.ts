/** In English, January first. */
export const monthNames: readonly string[] =
  'January February March April May June July August September October November December'.split(' ')

/** `Jan` and so on. */
export const shortMonthNames: readonly string[] = monthNames.map(name => name.slice(0, 3))

const lowerCaseNames = shortMonthNames.map(name => name.toLowerCase())

/** 1 to 12 for the first three letters of a month's name, in either case; 0 for anything else. */
export const monthNumber = (name: string): number => lowerCaseNames.indexOf(name.toLowerCase()) + 1
