/** A column of moments and other things that a narrow window has no room for. */
export const aside = { isWide: true, className: 'quiet nowrap' } as const

/** The column of the buttons of each row. */
export const actions = { name: 'Actions', isHeadingHidden: true } as const

export const seriesLink = (code: string, text: string = code) => (
  <a href={`/series/${code}`}>{text}</a>
)
