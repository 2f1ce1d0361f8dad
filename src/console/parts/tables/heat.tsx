interface HeatCell {
  text: string
  /** Its ground. */
  style?: Record<string, string>
}

interface HeatProps {
  /** What the table has, for screen readers. */
  label: string
  /** The heading of the first column. */
  corner: string
  heads: readonly string[]
  /** Each with a cell under every heading, or without one. */
  rows: readonly { name: string; cells: readonly (HeatCell | undefined)[] }[]
}

/** A table of numbers whose grounds show their sizes. */
export const Heat = ({ label, corner, heads, rows }: HeatProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it sideways
  <section class="scroll" tabIndex={0} aria-label={label}>
    <table class="heat">
      <caption class="only-heard">{label}</caption>
      <thead>
        <tr>
          <th scope="col">{corner}</th>
          {heads.map(head => (
            <th scope="col" class="number" key={head}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, cells }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, i) => (
              <td key={heads[i]} class="number" style={cell?.style ?? {}}>
                {cell?.text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
