import { useEffect, useRef } from 'preact/hooks'

/** The width of a sheet of A4 between the margins that browsers print, in CSS pixels. */
const paperWidth = 700

/** Fits a part to the sheet while the page is printed, and to its box again, without a width, afterwards. */
export function useOnPaper(fit: (width: number | undefined) => void): void {
  const latest = useRef(fit)
  latest.current = fit
  useEffect(() => {
    const prints = () => latest.current(paperWidth)
    const ends = () => latest.current(undefined)
    addEventListener('beforeprint', prints)
    addEventListener('afterprint', ends)
    return () => {
      removeEventListener('beforeprint', prints)
      removeEventListener('afterprint', ends)
    }
  }, [])
}
