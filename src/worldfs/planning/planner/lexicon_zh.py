"""The Chinese lexicon: words of the grammar, and how people type them (traditional signs, slips of the ear)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# a row of a table stays on its line, and a Chinese sign counts for two
# ruff: noqa: E501

_PAIRS = (
    "蘋苹 進进 籃篮 裡里 裏里 紅红 綠绿 藍蓝 黃黄 塊块 個个 東东 兩两 們们 夾夹 開开 關关 顏颜 類类 邊边 從从 幫帮 請请 別别 沒没 無无 將将 與与 還还 這这 嗎吗 麼么 為为 誰谁 幾几 裝装 動动 "
    "離离 遠远 間间 後后 過过 來来 對对 應应 該该 當当 時时 說说 給给 讓让 識识 認认 見见 現现 樣样 種种 圓圆 圍围 顆颗 隻只 條条 張张 總总 擺摆 疊叠 層层 頂顶 腦脑 機机 點点 轉转 儘尽 盡尽 "
    "並并 隨随 單单 雙双 壓压 舉举 撿捡 揀拣 擱搁 臺台 檯台 會会 嚴严 準准 許许 須须 勞劳 駕驾 煩烦 謝谢 櫃柜 鍵键 銀银 積积 磚砖 盤盘 馬马 檸柠 書书 處处 狀状 態态 銷销 復复 揮挥 擡抬 釐厘 "
    "碼码 齊齐 淨净 乾干 亂乱 順顺 歸归 組组 據据 規规 廳厅 夠够 難难 讀读 寫写 傳传 遞递 換换 僅仅 餘余 輕轻 長长 寬宽 側侧 麵面 屜屉 啟启 閉闭 鬆松 緊紧 園园 國国 學学 實实 體体 貼贴 觸触 "
    "號号 筆笔 葉叶 氣气 燈灯 門门 問问 聽听 寶宝 貓猫 雞鸡 魚鱼 鳥鸟 飛飞 車车 輪轮 頭头 臉脸 線线 紙纸 獨独 獸兽 龍龙 壺壶 爾尔 佔占 傘伞 備备 債债 傷伤 價价 儀仪 億亿 優优 兒儿 內内 冊册 "
    "凍冻 則则 剛刚 劃划 劇剧 劍剑 劑剂 勁劲 勝胜 務务 勢势 勵励 匯汇 區区 協协 卻却 參参 吳吴 員员 喚唤 啞哑 嘗尝 嘆叹 囑嘱 團团 圖图 墊垫 場场 塵尘 墜坠 壇坛 壞坏 夢梦 奪夺 奮奋 媽妈 嬰婴 "
    "孫孙 寵宠 審审 屆届 屬属 島岛 帶带 幣币 幹干 廁厕 廚厨 廢废 廣广 強强 彈弹 彎弯 徑径 徹彻 恆恒 悶闷 惡恶 愛爱 慘惨 慣惯 慶庆 憂忧 憶忆 懶懒 戰战 戲戏 拋抛 挾挟 捨舍 捲卷 掃扫 掛挂 採采 "
    "損损 搖摇 搶抢 摺折 撐撑 撥拨 擇择 擊击 擋挡 擔担 擠挤 擴扩 攤摊 攪搅 敗败 數数 斷断 於于 昇升 暫暂 曉晓 極极 棧栈 楊杨 業业 構构 槍枪 樂乐 樓楼 標标 樹树 橋桥 櫻樱 權权 歡欢 歲岁 殘残 "
    "殺杀 毀毁 氈毡 決决 沖冲 況况 洩泄 涼凉 淺浅 減减 渦涡 測测 湯汤 溫温 滅灭 滾滚 滿满 漢汉 潔洁 澆浇 濕湿 濟济 灑洒 災灾 烏乌 煙烟 熱热 燒烧 爐炉 爛烂 爺爷 牆墙 狹狭 猶犹 獅狮 獎奖 獲获 "
    "環环 瓊琼 產产 畫画 異异 瘋疯 療疗 發发 皺皱 盜盗 盞盏 監监 盧卢 眾众 睏困 矯矫 確确 礙碍 禮礼 禍祸 稱称 穩稳 窩窝 竊窃 競竞 節节 範范 築筑 簡简 簽签 籌筹 糧粮 約约 級级 純纯 紗纱 納纳 "
    "紛纷 細细 終终 結结 絕绝 絲丝 統统 絨绒 綁绑 維维 網网 緩缓 編编 緣缘 縫缝 縮缩 繞绕 繩绳 繪绘 繫系 繼继 續续 纏缠 罰罚 聖圣 聞闻 聯联 聲声 職职 肅肃 脫脱 膠胶 臥卧 臨临 舊旧 艙舱 艦舰 "
    "藝艺 蔥葱 薑姜 薩萨 藥药 蘿萝 蘭兰 虛虚 蝦虾 蟲虫 蠟蜡 衛卫 衝冲 補补 襪袜 視视 親亲 覺觉 觀观 計计 討讨 訓训 託托 設设 訪访 訴诉 診诊 評评 詞词 試试 詩诗 話话 詳详 誤误 課课 調调 諒谅 "
    "論论 講讲 謎谜 證证 護护 變变 讚赞 豬猪 貝贝 負负 財财 貨货 貴贵 買买 費费 資资 賣卖 質质 賽赛 贏赢 趕赶 跡迹 躍跃 軟软 較较 載载 輔辅 輛辆 輸输 轟轰 辦办 農农 迴回 連连 週周 運运 達达 "
    "違违 遙遥 適适 選选 遲迟 邁迈 邏逻 郵邮 鄰邻 醜丑 醫医 釋释 針针 釣钓 鈕钮 鉛铅 鉗钳 鈴铃 鋁铝 鋼钢 錄录 錘锤 錢钱 錫锡 鍋锅 鎖锁 鏟铲 鏡镜 鐘钟 鐵铁 鑰钥 鑽钻 閃闪 闊阔 陣阵 陽阳 陰阴 "
    "際际 隊队 階阶 險险 隱隐 雜杂 電电 靜静 響响 頁页 項项 預预 領领 頸颈 題题 額额 願愿 顧顾 顯显 風风 飄飘 飯饭 飲饮 飽饱 餅饼 養养 館馆 駛驶 騎骑 驗验 驚惊 髒脏 鬧闹 鮮鲜 鯨鲸 鴨鸭 鴿鸽 "
    "鵝鹅 鷹鹰 鹽盐 麗丽 麥麦 齒齿 龜龟 剷铲 叢丛 啓启 喫吃 嚇吓 嚐尝 囉啰 塗涂 夥伙 妳你 牠它 祂它 彆别 徵征 慮虑 憑凭 撈捞 擰拧 攔拦 曬晒 棄弃 欄栏 瀉泻 瑪玛 瓏珑 盪荡 砲炮 禦御 紮扎 繡绣 "
    "羅罗 腳脚 莖茎 菸烟 虧亏 詢询 諸诸 賴赖 輯辑 遊游 釘钉 鉤钩 鋪铺 闆板 陸陆 雖虽 靈灵 "
    "髮发 鏈链 鍊链 綢绸 鋸锯 鉸铰 鐮镰 釦扣 鈔钞 鋰锂 錶表 鑷镊 鏽锈 銹锈 鑲镶 鋒锋 錐锥 鈦钛 鎚锤 鏤镂 鐲镯 釧钏 鑿凿 鉋刨 鏜镗 鎳镍 鎢钨 銲焊 紐纽 緞缎 紡纺 綿绵 縣县 纖纤 綜综 緻致 繃绷 繚缭 纜缆 罈坛 罎坛 甕瓮 盃杯 鉢钵 缽钵 罋瓮 餃饺 饅馒 餡馅 餵喂 餛馄 飩饨 麪面 醬酱 醃腌 釀酿 "
    "鹼碱 鹹咸 糰团 糉粽 粵粤 蘆芦 葷荤 蔔卜 薺荠 蘚藓 蘊蕴 萬万 著着 蕩荡 蘇苏 茲兹 莊庄 蓮莲 蔣蒋 蔭荫 蕎荞 櫈凳 櫥橱 檔档 樁桩 榮荣 棗枣 櫚榈 欖榄 櫺棂 楓枫 槳桨 樅枞 橢椭 檢检 檳槟 檻槛 牀床 瑣琐 瑩莹 甌瓯 癢痒 瘡疮 皰疱 矇蒙 碩硕 礦矿 礫砾 穀谷 穎颖 竈灶 竪竖 筍笋 箏筝 簍篓 簾帘 "
    "籠笼 籤签 籬篱 籮箩 糞粪 罵骂 翹翘 聳耸 膚肤 臘腊 臟脏 艷艳 芻刍 蝸蜗 螞蚂 蠅蝇 蠔蚝 蠶蚕 衆众 褲裤 襯衬 襖袄 褳裢 袞衮 覽览 訂订 記记 詠咏 誌志 諾诺 譜谱 貞贞 貢贡 貧贫 販贩 貫贯 責责 貯贮 貸贷 貿贸 賀贺 賊贼 賓宾 賞赏 賠赔 賢贤 購购 贈赠 趙赵 踐践 蹤踪 軌轨 軒轩 軸轴 輝辉 輩辈 "
    "輻辐 轄辖 轆辘 轎轿 辭辞 逕径 遜逊 鄉乡 鄧邓 鄭郑 醱酵 釵钗 鈍钝 鈎钩 鉚铆 銅铜 銘铭 銳锐 鋅锌 錨锚 錳锰 鍛锻 鍬锹 鍾钟 鎧铠 鎮镇 鏃镞 鐐镣 鐺铛 鑒鉴 鑑鉴 鑼锣 閂闩 閘闸 閥阀 閱阅 闡阐 陳陈 隕陨 隴陇 雛雏 霧雾 靂雳 鞏巩 鞦秋 韁缰 韓韩 頓顿 頗颇 頰颊 頻频 顱颅 颱台 飼饲 馱驮 駁驳 "
    "駐驻 駝驼 騙骗 騰腾 驅驱 驟骤 驢驴 骯肮 鬚须 魯鲁 鮑鲍 鮭鲑 鯉鲤 鰻鳗 鱷鳄 鱗鳞 鳳凤 鴕鸵 鵑鹃 鵪鹌 鶉鹑 鶴鹤 鸚鹦 鵡鹉 鹵卤 黨党 齡龄 齦龈 龐庞 墻墙 壘垒 孃娘 媧娲 嬌娇 寢寝 寧宁 專专 尋寻 導导 屢屡 嶺岭 嶼屿 巋岿 幟帜 庫库 廂厢 廈厦 廟庙 廠厂 彙汇 恥耻 悅悦 惱恼 憐怜 懸悬 懺忏 "
    "戀恋 戶户 掙挣 搗捣 摟搂 摯挚 撫抚 撲扑 擄掳 擬拟 擯摈 擲掷 擾扰 攏拢 攝摄 攢攒 斬斩 斂敛 斃毙 晝昼 暈晕 暉晖 暢畅 曆历 曠旷 朧胧 枴拐 柵栅 桿杆 梔栀 梟枭 棟栋 椏桠 楨桢 榪杩 槓杠 樸朴 歐欧 歎叹 殼壳 毆殴 氫氢 氬氩 汙污 汚污 洶汹 浹浃 涇泾 淚泪 淒凄 淪沦 淵渊 淶涞 渾浑 溝沟 溼湿 "
    "滌涤 滎荥 滬沪 滯滞 滲渗 滸浒 漁渔 漚沤 漣涟 漬渍 漲涨 漸渐 潑泼 潛潜 潤润 潰溃 澀涩 澗涧 澤泽 澱淀 濁浊 濃浓 濫滥 濱滨 濺溅 濾滤 瀏浏 瀕濒 瀝沥 瀾澜 灘滩 灣湾 炤照 烴烃 煉炼 煥焕 熒荧 熾炽 燄焰 燉炖 燙烫 燜焖 營营 燦灿 燭烛 燻熏 燼烬 爍烁 爭争 牘牍 牽牵 犢犊 猙狰 獄狱 獵猎 獺獭 "
    "玀猡 琺珐 瑋玮 瑯琅 璣玑 璦瑷 璽玺 瓔璎 癥症 癬癣 皚皑 眥眦 睜睁 瞞瞒 矚瞩 硃朱 硤硖 碭砀 磣碜 礎础 礡礴 祕秘 祿禄 禎祯 禪禅 禱祷 稅税 稈秆 穌稣 穢秽 窪洼 窮穷 窯窑 窺窥 竄窜 竅窍"
)
_TABLE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
# Slips of the ear, which no other word of the lexicon resembles.
SLIPS = {
    "蓝子": "篮子", "兰子": "篮子", "平果": "苹果", "苹过": "苹果", "卓子": "桌子", "桌孑": "桌子", "方快": "方块",
    "灌子": "罐子", "贯子": "罐子", "收十": "收拾", "收拾下": "收拾一下", "香焦": "香蕉", "拿启": "拿起", "拿其": "拿起",
}  # fmt: skip


def simplified(text: str) -> str:
    """Traditional signs in their simplified form."""
    return text.translate(_TABLE)


def corrected(text: str) -> tuple[str, list[str]]:
    """The text with common slips put right, and a line for each."""
    notes = []
    for wrong, right in SLIPS.items():
        if wrong in text:
            text = text.replace(wrong, right)
            if not right.startswith(wrong):
                notes.append(f"“{wrong}”读作“{right}”")
    return text, notes


# One-sign words that stay the head at the end of a longer word (茶杯 is a 杯子), and the words where they do not.
_HEAD_SIGNS = frozenset(
    "杯盒瓶罐箱碗碟篮筐桶袋壶勺叉锅架桌椅柜笔鞋帽伞尺灯垫刷球盖刀铲夹牌扣链钉锤锯钳梳凳盆毯筒管绳套"
)
_CLOSED = (
    "冰箱 音箱 邮箱 信箱 风箱 变速箱 气球 地球 眼球 星球 全球 脑袋 骨架 吵架 打架 火锅 背锅 圣杯 主笔 伏笔 交叉 剪刀 "
    "螺丝刀 手套 外套 圈套 膝盖 铺盖 文件夹 皮夹 招牌 王牌 图钉 血管 话筒 听筒 电筒 "
)
_DESCRIBING_SIGNS = frozenset("红绿蓝黄橙橘紫粉白黑灰银棕褐青大小长短高矮新旧圆方色的左右") | frozenset("0123456789号")


@lru_cache(maxsize=1)
def _closed() -> tuple[str, ...]:
    return tuple(_CLOSED.split())


def is_head(word: str, tail: str) -> bool:
    """Whether a word at the end of a Chinese name is its head, and no part of a word that means another thing."""
    if not word or not tail.endswith(word):
        return False
    rest = tail[: -len(word)]
    if len(word) > 1 or set(rest) <= _DESCRIBING_SIGNS:
        return True
    return word in _HEAD_SIGNS and not tail.endswith(_closed())


def names_head(word: str, tail: str) -> bool:
    """`is_head`, with or without 子 on either side: 杯子 and 杯 are the head of 茶杯, and 杯 of 玻璃杯子."""
    bare, short = word.removesuffix("子") if len(word) > 1 else word, tail.removesuffix("子")
    return is_head(word, tail) or (word != bare and is_head(bare, tail)) or (short != tail and is_head(bare, short))


def may_be_head(word: str, tail: str) -> bool:
    """Whether a name ends in the word without 子, so that it may be its head: 夹子 of 领带夹."""
    return tail.endswith((word, word.removesuffix("子") or word))


def bare_name(tail: str) -> str:
    """A Chinese name without the colours, sizes and numbers before its head."""
    return tail.lstrip("".join(_DESCRIBING_SIGNS)) or tail


def found_words(text: str, words: Mapping[str, object]) -> list[tuple[str, int]]:
    """The words of a table that a text holds, by longest match, and where each begins."""
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        size = next((n for n in range(min(6, len(text) - at), 0, -1) if text[at : at + n] in words), 0)
        if size:
            found.append((text[at : at + size], at))
        at += size or 1
    return found


BEST_ZH = {
    "最重": "heaviest", "最沉": "heaviest", "最轻": "lightest", "最大": "biggest", "最小": "smallest", "最高": "tallest",
    "最矮": "lowest", "最低": "bottom", "最长": "longest", "最近": "nearest", "最远": "farthest", "最左边": "leftmost",
    "最左侧": "leftmost", "最左": "leftmost", "最右边": "rightmost", "最右侧": "rightmost", "最右": "rightmost",
    "最前面": "frontmost", "最前": "frontmost", "最后面": "backmost", "最上面": "top", "最上层": "top", "最顶上": "top",
    "最下面": "bottom", "最底下": "bottom", "最靠左": "leftmost", "最靠右": "rightmost", "最中间": "middle",
}  # fmt: skip
# Comparatives choose of two: 较大的 · 比较重的 · 更近的.
_ADJECTIVES = {sign: BEST_ZH[f"最{sign}"] for sign in "重沉轻大小高矮长近远"}
COMPARED_ZH = {more + sign: best for sign, best in _ADJECTIVES.items() for more in ("较", "比较", "更")}
_LAST = "(?:刚才|刚刚|上一步|上一个|上次|之前|最后(?:一步)?|前面)?的?"
UNDO = re.compile(
    f"(?:撤销|撤回|还原|取消|恢复(?:原状|原样)?|复原|物归原处){_LAST}(?:操作|动作|指令|步骤|命令|移动|任务|一步)?(?:吧)?"
)
SLIDING = frozenset(("推", "推动", "滑", "滑动", "推远", "推开"))  # along the table; what is 移 or 挪 may be carried
THEN = frozenset(["然后", "再", "接着", "之后", "最后", "随后", "而后"])
# Chinese: word → (class, value); longest match wins, so 能不能 is a polite form and 不能 a prohibition
_ZH: dict[str, str] = {
    "polite": "也 随便 请 麻烦 麻烦你 麻烦您 您 拜托 拜托你 劳驾您 机器人 帮我把手 请您 咱们 让我们 我们来 来 我想让你 我想请你 我要你 我希望你 想让你 给我把 要 行吗 可以吗 好不好 行不行 可以不 拜托了 辛苦了 马上 立刻 赶紧 快 亲爱的 嗨 嘿 依次 逐个 一个一个 第一步 第二步 第三步 首先 顺便 顺手 请问 请帮我 帮我 帮忙 请帮忙 帮 劳驾 你 现在 吧 啊 呀 嘛 呗 一下 一下子 谢谢 谢谢你 好吗 好的 好吧",
    "request": "能不能 可不可以 愿不愿意 能否 可否 是否可以 是否愿意 可以 愿意 能",
    "wish": "我想要 我要 给我 我需要 我想拿",
    "only": "只 仅 仅仅",
    "or": "或 或者 或是",
    "other": "其他 其它 别的 其余 剩下 剩余 另外 另一个 另外一个 其他的 其它的 别的那个 剩下的 其余的 另外那个",
    "toward": "向 往 朝",
    "wayleft": "左 左边 左侧 左面 左方",
    "wayright": "右 右边 右侧 右面 右方",
    "wayforward": "前 前面 前方 前边 远处",
    "waybackward": "后 后面 后方 后边",
    "robot": "机器人 你 您 自己 底座",
    "thatway": "方向 的方向 这边 那边 这里 那里",
    "shift": "移 移动 挪 挪动 推 推动 拉 拉动 平移 滑动 滑 动 移一下 挪一下",
    "shiftleft": "左移",
    "shiftright": "右移",
    "shiftforward": "前移 推远 移远 挪远 推开",
    "shiftbackward": "后移 拉近 拉过来",
    "hither": "过去 过来 去 来",
    "isnot": "不是 非",
    "should": "应该 应当 应 得 要 需要 该",
    "nearto": "最靠近 最接近 最挨近 最邻近",
    "apart": "远离 移离",
    "leave": "离",
    "farther": "远一点 远点 远些 远一些 再远一点 放远一点 挪远一点 移远一点 拿远一点",
    "nearer": "近一点 近点 近些 近一些 再近一点 移近一点 挪近一点",
    "close": "靠近 移近 挪近 移到靠近",
    "spot": "处 位置 地方 的地方 的位置 那里 那儿 这里",
    "abit": "一点 一点儿 一些 些 一点点 少许",
    "unit": "厘米 公分 毫米 米",
    "left": "左边 左侧 左面 左方 的左边 左手边",
    "right": "右边 右侧 右面 右方 的右边 右手边",
    "front": "前面 前方 前边",
    "behind": "后面 后方 后边 背后",
    "middle": "中间 正中间 中央 正中 中心 正中央",
    "between": "之间 当中",
    "join": "然后 再 接着 之后 最后 先 首先 并 并且 随后 而后 同时",
    "and": "和 跟 与 及 以及 还有 、",
    "but": "但 但是 不过",
    "ba": "把 将 让",
    "de": "的",
    "all": "所有的 所有 全部的 全部 每个 每一个 一切 每一",
    "dou": "都 全都 通通 全",
    "any": "一个 任意 任何 某个 某",
    "this": "这个 那个 这 那 这些 那些 我的",
    "except": "除了 除",
    "outside": "以外的 之外的 外的 以外 之外 外",
    "excluded": "除外",
    "it": "它 它们 他们",
    "in": "里面 里 中 里边 内 当中 之中 里头",
    "on": "上面 上 上边 顶上",
    "beside": "旁边 边上 附近",
    "above": "上方",
    "to": "到 进 入 在",
    "from": "从",
    "by": "按照 按 根据 依照",
    "attr_colour": "颜色 色彩",
    "attr_kind": "种类 类别 类型 品种",
    "sizebiggest": "大 大的",
    "sizesmallest": "小 小的",
    "sizetallest": "高 高的",
    "sizelowest": "矮 矮的",
    "sizelongest": "长 长的",
    "sizeheaviest": "重 重的",
    "sizelightest": "轻 轻的",
    "alike": "是 一样 同样 照样",
    "notthis": "而不是 不是 而非",
    "neg": "不 不是 而不是 别 不要 勿 请勿 禁止 不许 不准 不能 不得 不可 没 没有 未 无 非 莫 休 甭 严禁 停止 取消 避免 不用 不必 "
    "无需 无须 千万别 停 切勿 不该 不应 不应该 拒绝 住手 且慢 不想 忘",
    "question": "多远 多大 多高 多重 多长 多宽 吗 呢 什么 哪 哪里 哪儿 哪个 哪些 谁 多少 几个 几 是否 是不是 有没有 为什么 为何 怎么 怎样 要不要 该不该 了吗 么",
    "if": "如果 要是 假如 假设 若 若是 当 等 等到 除非 应该 也许 可能 一旦 万一 以后 以前 之前 明天 稍后 待会",
    "past": "了 过 已经 他 她 我 我们 说 刚才 昨天 曾 曾经 刚",
    "act:clear": "收拾 清理 整理 收拾收拾 整理整理 清理清理 清空 打扫 收拾干净 清理干净 收拾好 整理好 收起 收起来 收好 拿走 移走 清理掉",
    "act:put": "递给 交给 传给 挪 摆进 摆 放回 放去 丢到 扔到 搁到 搁在 搁进 塞进 装到 归入 放进去 装进去 塞进去 丢进去 扔进去 移 送到 送进 弄到 弄进 放进 放到 放在 放入 放 移到 移动到 移进 挪到 挪进 搬到 搬进 拿到 装进 装入 收进 收到 摆到 摆在 丢进 扔进 投进 置于 移入",
    "act:stackon": "叠在 叠到 摞在 摞到 堆在 堆到 叠放在 码在",
    "act:stack": "叠起来 摞起来 堆起来 叠在一起 摞在一起 堆在一起 叠到一起 摞到一起 叠放在一起 垒起来 叠 摞 堆 叠放 叠好 摞好 码起来 堆叠",
    "act:pick": "拿起 拿起来 拿上 拿一下 抓一下 夹 拾取 抓起 抓起来 抓取 抓住 抓 拿 拿着 捡起 捡起来 拾起 举起 举起来 夹起 夹住 取 拿住 拿出来 取出来 拿出 取出 提起 提起来",
    "act:bring": "我想要 我要 给我 我需要 我想拿 递过来 递来 给我拿来 帮我拿来 拿来给我 拿来 拿过来 取来 取过来 带来 递给我 拿给我 递 递一下 递个",
    "act:down": "放下 放下来",
    "act:sort": "分类 归类 分开 排序 分组 分拣 归类好 分好类 分类放好 分类整理 整理分类",
    "act:look": "看看 看 看向 看一看 查看 找 找到 寻找 找一找 观察",
    "act:go": "去 去到 走到 移动到 移到 前往 到",
    "act:wave": "挥手 挥挥手 招手 招招手 挥一挥手 挥个手 打个招呼 摆摆手 挥动手臂",
    "act:upright": "扶正 扶起 扶起来 扶直 立起来 竖起来 摆正 扶好",
    "act:undo": "撤销 撤回 还原 恢复原状 复原 取消上一步 撤销上一步 恢复 物归原处 撤销刚才的操作 撤销上一条指令",
    "act:back": "放回原处 放回去 放回原位 放回原来的地方 放回原来的位置 归还原处 放回原来位置",
    "act:home": "回家 回原位 回到原位 归位 复位 回零 回到初始位置 回初始位置 回到家 返回原位 回原点",
    "with": "用",
    "act:wipe": "擦 擦擦 擦一擦 擦拭 擦干净 擦一下 擦洗",
    "act:pour": "倒进 倒入 倒到 倒在 倒进去",
    "act:openup": "打开 拉开 开启 揭开 掀开",
    "act:shut": "关上 关闭 合上 推上 盖上 关好 盖好",
    "act:open": "打开夹爪 张开夹爪 松开夹爪 打开手爪 张开手爪 夹爪打开 张开手",
    "act:close": "闭合夹爪 关闭夹爪 合上夹爪 关上夹爪 合拢夹爪 闭合手爪 合上手",
    "act:drop": "松手 松开 放开",
    "touch": "动 碰 碰到 动到 触碰 收 移动 拿动",
    "two": "两 俩",
    "three": "三",
    "partof": "其中",
}
DIGITS_ZH = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
MEASURES = "个只条块本把支枝张件双副根颗粒片枚台辆盏顶套卷朵棵头匹位幅串对节段份种层堆座"
COUNT = re.compile(rf"([这那])?([一两二三四五六七八九十]|\d+)[{MEASURES}]")
_SIGNS = dict(zip("一两二三四五六七八九十", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10), strict=True))


def count_kinds(found: re.Match[str]) -> frozenset[str]:
    """Of a number with its measure word: 两支, 3本, 那两个."""
    number = _SIGNS.get(found[2]) or int(found[2])
    word = next((word for word, n in DIGITS_ZH.items() if n == number), "any" if number == 1 else "")
    return frozenset(filter(None, (word, "these" if found[1] else "")))


# "Any will do", after an order: 哪个都行 · 随便哪两块 · 都可以
ANY_WILL_DO = re.compile(
    rf"[,，、]?(?:哪(?:怕)?[一两二三四五六七八九十几]?[{MEASURES}样里儿]?(?:都|也)(?:行|可以|好|成|没关系)"
    rf"|随便(?:哪)?[一两二三四五]?[{MEASURES}]?(?:都行|都可以|就行)?|任选[一两二三]?[{MEASURES}]?|(?:两个|两者)?都(?:行|可以)|无所谓|随你(?:便)?"
    rf"|(?:是)?哪[一两]?[{MEASURES}](?:我)?(?:都)?(?:不在乎|无所谓))[。.!！]?$"
)


@lru_cache(maxsize=1)
def chinese_lexicon() -> Mapping[str, frozenset[str]]:
    """Word → classes; act words may have two (移到 puts a thing or moves the arm)."""
    found: dict[str, set[str]] = {}
    for kind, text in _ZH.items():
        for word in text.split():
            found.setdefault(word, set()).add(kind)
    for word, best in BEST_ZH.items():
        found.setdefault(word, set()).add(f"best:{best}")
    for word, best in COMPARED_ZH.items():
        found.setdefault(word, set()).update((f"best:{best}", "of_two"))
    return {word: frozenset(kinds) for word, kinds in found.items()}


def is_grammar(word: str) -> bool:
    """Is it a word of the grammar? A size is one only beside a noun."""
    return any(kind[:4] != "size" for kind in chinese_lexicon().get(word, ()))
