/** What this plugin knows of its host: the parts of its API that it calls, in hosts from 2026.7.35 on. */

export interface Message {
  role: string;
  content?: unknown;
  timestamp?: unknown;
  toolCallId?: unknown;
  excludeFromContext?: unknown;
  summary?: unknown;
}

/** What every call of a context engine says of its conversation. */
export interface Conversation {
  sessionId?: string | undefined;
  sessionKey?: string | undefined;
  agentId?: string | undefined;
  sessionTarget?: { agentId?: string | undefined } | undefined;
}

export interface AssembleParams extends Conversation {
  messages: Message[];
  tokenBudget?: number;
  prompt?: string;
  availableTools?: Set<string>;
  citationsMode?: string;
}

export interface Assembled {
  messages: Message[];
  estimatedTokens: number;
  systemPromptAddition?: string;
}

export interface TurnParams extends Conversation {
  messages: Message[];
  advancementKey?: string;
  prePromptMessageCount?: number;
  isHeartbeat?: boolean;
}

export interface CompactParams extends Conversation {
  force?: boolean;
  currentTokenCount?: number;
  abortSignal?: AbortSignal;
}

export interface SpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
}

export interface Logger {
  warn(text: string): void;
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: object;
  execute(callId: string, args: Record<string, unknown>): Promise<{ content: { type: "text"; text: string }[]; details: unknown }>;
}

export interface Command {
  command(name: string): Command;
  description(text: string): Command;
  option(flags: string, description: string, value?: string): Command;
  argument(name: string, description: string): Command;
  action(run: (...given: any[]) => Promise<void>): Command;
}

export interface Api {
  pluginConfig?: Record<string, unknown>;
  config?: { plugins?: { entries?: Record<string, { enabled?: boolean } | undefined> } };
  logger: Logger;
  runtime?: { state?: { resolveStateDir?: () => string } };
  registerContextEngine(id: string, factory: () => object): void;
  registerMemoryCapability?(capability: object): void;
  registerMemoryPromptSection?(builder: (params: PromptParams) => string[]): void;
  registerMemoryFlushPlan?(resolver: () => null): void;
  registerMemoryRuntime?(runtime: object): void;
  registerTool(tool: (context: Conversation) => Tool, options: { name: string }): void;
  registerCli(registrar: (given: { program: Command }) => void, options: object): void;
  on(hook: string, handler: (event: Record<string, unknown>, context: Conversation) => Promise<void>): void;
}

export interface PromptParams {
  availableTools?: Set<string>;
}
