const [width, height, inset] = [160, 56, 3]

interface MiniLine {
  values: readonly (number | null)[]
  /** A token of the ink colours. */
  ink: string
  isStrong?: boolean
}

/**
 * A few lines over the same places, without axes; the numbers next to them have the same values.
 */
export function MiniLines({
  lines,
  band,
  className = 'mini',
}: {
  lines: readonly MiniLine[]
  className?: string
  /** The ground between a lowest and a highest line. */
  band?: { low: readonly (number | null)[]; high: readonly (number | null)[] }
}) {
  const all = [...lines.map(({ values }) => values), ...(band ? [band.low, band.high] : [])]
  const known = all.flat().filter(value => value !== null)
  const count = Math.max(...all.map(({ length }) => length))
  if (known.length < 2 || count < 2) return null
  const low = Math.min(...known)
  const span = Math.max(...known) - low || 1
  const place = (value: number, i: number): string => {
    const x = inset + (i / (count - 1)) * (width - 2 * inset)
    const y = height - inset - ((value - low) / span) * (height - 2 * inset)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  const points = (values: readonly (number | null)[]): string[] =>
    values.flatMap((value, i) => (value === null ? [] : [place(value, i)]))
  const pathOf = (values: readonly (number | null)[]) => `M${points(values).join('L')}`
  return (
    <svg
      class={className}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {band && (
        <path class="band" d={`${pathOf(band.high)}L${points(band.low).reverse().join('L')}Z`} />
      )}
      {/* The strongest line is drawn last, over the others. */}
      {lines.toReversed().map(({ values, ink, isStrong }) => (
        <path
          key={ink}
          d={pathOf(values)}
          stroke={`var(${ink})`}
          stroke-width={isStrong ? 2 : 1}
          vector-effect="non-scaling-stroke"
        />
      ))}
    </svg>
  )
}
