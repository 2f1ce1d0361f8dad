/** The status of a part of the service. `disabled`: it is not part of this instance. */
export interface Component {
  name: string
  status: 'operational' | 'degraded' | 'down' | 'disabled'
  message?: string
}

export type Condition = 'operational' | 'degraded' | 'down'
