/** How the console may look for a person, and how it may write times and numbers. */
export const schemes = ['system', 'light', 'dark'] as const
export const densities = ['normal', 'dense'] as const
/** In their order `1,234.5`, `1.234,5` and `1 234,5`. */
export const numberFormats = ['decimal_point', 'decimal_comma', 'spaced_decimal_comma'] as const
/** The colour of a rise, then of a fall. */
export const moveColours = ['blue_orange', 'green_red', 'red_green'] as const

export type NumberFormat = (typeof numberFormats)[number]

export interface DisplayPreferences {
  scheme: (typeof schemes)[number]
  density: (typeof densities)[number]
  /** `UTC`, `browser` or the IANA name of a time zone. */
  timeZone: string
  numberFormat: NumberFormat
  moveColours: (typeof moveColours)[number]
}

/** They apply until a person has chosen. */
export const firstDisplayPreferences: DisplayPreferences = {
  scheme: 'system',
  density: 'normal',
  timeZone: 'UTC',
  numberFormat: 'decimal_point',
  moveColours: 'blue_orange',
}
