import { useEffect } from 'preact/hooks'
import { caller, has } from '../person/account.ts'
import { impersonation } from '../person/impersonation.ts'
import { boot } from './boot.ts'

export interface LivePrice {
  code: string
  price: number
  created_at: string
}

interface Frame {
  type?: string
  message?: { type?: string; price_rows?: LivePrice[] }
}

const codesMax = 100
const againAfterMs = 5000

/** Calls `onPrices` as prices change, where the plan has the stream; otherwise does nothing. */
export function useLive(codes: readonly string[], onPrices: (prices: LivePrice[]) => void): void {
  const key = codes.slice(0, codesMax).join(',')
  // A socket takes no token in a header, so prices do not move during an impersonation.
  const isAllowed = has('streaming') && impersonation === undefined
  useEffect(() => {
    if (!isAllowed || key === '') return undefined
    let socket: WebSocket | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const open = () => {
      socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/cable`)
      const identifier = JSON.stringify({
        channel: boot.channel,
        commodities: key.split(','),
      })
      socket.onmessage = ({ data }: MessageEvent<string>) => {
        const frame = JSON.parse(data) as Frame
        if (frame.type === 'welcome')
          socket?.send(JSON.stringify({ command: 'subscribe', identifier }))
        if (frame.message?.type === 'price_update') onPrices(frame.message.price_rows ?? [])
      }
      socket.onclose = () => {
        if (!isOver) timer = setTimeout(open, againAfterMs)
      }
    }
    open()
    return () => {
      isOver = true
      clearTimeout(timer)
      socket?.close()
    }
  }, [key, isAllowed, caller.value?.id])
}
