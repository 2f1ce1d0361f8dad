import { MiniLines } from './mini-lines.tsx'

/** The course of a price as a small line; the numbers next to it contain the same. */
export const Spark = ({ values }: { values: readonly number[] }) => {
  const ink = (values.at(-1) ?? 0) >= (values[0] ?? 0) ? '--up' : '--down'
  return <MiniLines className="spark" lines={[{ values, ink, isStrong: true }]} />
}
