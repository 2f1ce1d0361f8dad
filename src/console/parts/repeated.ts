import { useEffect } from 'preact/hooks'

const everyMs = 2000

/** Repeats work every two seconds while it is wanted and the page is visible. */
export function useRepeated(isWanted: boolean, work: () => Promise<void>): void {
  useEffect(() => {
    if (!isWanted) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void work()
    }, everyMs)
    return () => clearInterval(timer)
  }, [isWanted, work])
}
