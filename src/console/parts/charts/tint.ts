/**
 * The ground of a cell of a heat table: the colour of rises or falls, as strong as the share, from −1
 * to 1, is of `most` percent.
 */
export const tint = (share: number, most: number) => ({
  background: `color-mix(in srgb, var(${share >= 0 ? '--up' : '--down'}) ${Math.round(Math.abs(share) * most)}%, transparent)`,
})
