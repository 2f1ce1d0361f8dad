const width = 104
const height = 28
const inset = 2

/** The course of a price as a small line; the numbers next to it contain the same. */
export function Spark({ values }: { values: readonly number[] }) {
  const first = values[0]
  const last = values.at(-1)
  if (values.length < 2 || first === undefined || last === undefined) return null
  const low = Math.min(...values)
  const span = Math.max(...values) - low || 1
  const path = values
    .map((value, i) => {
      const x = inset + (i / (values.length - 1)) * (width - 2 * inset)
      const y = height - inset - ((value - low) / span) * (height - 2 * inset)
      return `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
  return (
    <svg
      class={`spark ${last >= first ? 'up' : 'down'}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
