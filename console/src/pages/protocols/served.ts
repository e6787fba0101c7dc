import type { Info } from '../../api/info';

/** Whether agents can be chosen from a list, and be sent messages by A2A. */
export const servesAgents = ({ a2a, assistants }: Info['flags']): boolean => a2a && assistants;

/** Whether graphs can be called as tools of MCP. */
export const servesTools = ({ mcp }: Info['flags']): boolean => mcp;
