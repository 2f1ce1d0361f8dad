declare module 'asciichart' {
  /** A line of text for each row of the chart, joined by line breaks. */
  export function plot(
    series: readonly number[],
    config?: { height?: number; format?: (value: number) => string },
  ): string
}
